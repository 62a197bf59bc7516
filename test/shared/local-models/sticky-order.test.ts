import { expect, test } from '@jest/globals';
import { stickyOrder } from '../../../src/shared/local-models/processes/models-address.js';

const address = (name: string) => ({ url: `http://${name}:8010`, token: null });
const [a, b, c] = [address('a'), address('b'), address('c')];
const NAMES = Array.from({ length: 300 }, (_, n) => `cache ${String(n)}`);
const firstOf = (...args: Parameters<typeof stickyOrder>) => stickyOrder(...args)[0]?.url;

test('a name has the same first process whatever the order of the settings, and all have about as many', () => {
  for (const name of NAMES) expect(firstOf([a, b, c], name)).toBe(firstOf([c, a, b], name));
  for (const { url } of [a, b, c]) {
    const held = NAMES.filter((name) => firstOf([a, b, c], name) === url).length;
    expect(held).toBeGreaterThan(60);
    expect(held).toBeLessThan(140);
  }
});

test('without a process, only the names that it had go to others', () => {
  for (const name of NAMES) {
    const before = firstOf([a, b, c], name);
    if (before !== c.url) expect(firstOf([a, b], name)).toBe(before);
  }
});

test('the process that holds it comes first, and an unknown one changes nothing', () => {
  for (const name of NAMES) {
    expect(firstOf([a, b, c], name, b.url)).toBe(b.url);
    expect(firstOf([a, b, c], name, 'http://gone:8010')).toBe(firstOf([a, b, c], name));
    expect(stickyOrder([a, b, c], name, b.url)).toHaveLength(3);
  }
});
