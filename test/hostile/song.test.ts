import { expect, test } from '@jest/globals';
import { listen, type Beat } from './song.js';

const beats = (kind: Beat['kind'], ...milliseconds: number[]): Beat[] =>
  milliseconds.map((each, n) => ({ kind, status: 200, startedAt: 200 * n, milliseconds: each }));
const quiet = beats('control', 6, 7, 6, 7, 6, 7, 6, 7, 6, 7);

test('a canary that is late twice in a row was kept waiting', () => {
  const song = listen([...beats('search', 9, 1_400, 1_200, 9), ...quiet]);
  expect(song).toMatchObject({ worstMilliseconds: 1_400, keptWaitingMilliseconds: 1_400 });
});

test('a single late answer is noise', () => {
  expect(listen([...beats('search', 9, 1_400, 9, 1_200, 9), ...quiet]).keptWaitingMilliseconds).toBe(0);
  const mixed = [...beats('search', 1_400, 9), ...beats('health', 9, 1_400), ...quiet];
  expect(listen(mixed).keptWaitingMilliseconds).toBe(0);
});

test('where another service is late at the same time, the machine is full', () => {
  const late = beats('search', 9, 1_400, 1_200, 9);
  expect(listen([...late, ...beats('control', 6, 7, 400)])).toMatchObject({
    keptWaitingMilliseconds: 0,
    controlMilliseconds: 400,
  });
  const later = { kind: 'control', status: 200, startedAt: 9_000, milliseconds: 400 } as const;
  expect(listen([...late, ...quiet, later]).keptWaitingMilliseconds).toBe(1_400);
});

test('other answers than 200 are failures', () => {
  const refused = { kind: 'health', status: 503, startedAt: 0, milliseconds: 1 } as const;
  expect(listen([refused, ...quiet]).failures).toEqual(['health 503']);
});
