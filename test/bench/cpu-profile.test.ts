import { expect, test } from '@jest/globals';
import { dearest } from '../../bench/support/cpu-profile.js';

const frame = (id: number, functionName: string, url: string) => ({
  id,
  callFrame: { functionName, url, lineNumber: 4 },
});

test('a profile tells which functions took most time themselves, of which package, over all threads', () => {
  const nodes = [
    frame(1, '(idle)', ''),
    frame(2, 'scan', 'file:///somewhere/quire/dist/shared/search/search.js'),
    frame(3, 'parse', 'file:///somewhere/quire/node_modules/@redis/client/dist/lib/decoder.js'),
    frame(4, '(garbage collector)', ''),
    frame(5, 'scan', 'file:///somewhere/quire/dist/shared/search/search.js'),
  ];
  const profiles = [
    { nodes, samples: [1, 2, 3, 5], timeDeltas: [9_000_000, 30_000, 20_000, 10_000] },
    { nodes, samples: [4, 2], timeDeltas: [20_000, 20_000] },
  ];
  expect(dearest(profiles, 2)).toEqual([
    { package: 'quire', function: 'scan shared/search/search.js:5', milliseconds: 60, percent: 60 },
    {
      package: '@redis/client',
      function: 'parse lib/decoder.js:5',
      milliseconds: 20,
      percent: 20,
    },
  ]);
});
