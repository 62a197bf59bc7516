import { expect, test } from '@jest/globals';
import { createFairQueue } from '../../../src/workers/parse/fair-queue.js';

const taker = (callerId: string, isQuick = false) => ({
  callerId,
  origin: callerId,
  isQuick,
  signal: undefined,
});

test('of those who wait, the caller who holds the fewest goes first, then the one who came first', async () => {
  const queue = createFairQueue(['a', 'b'], 'spare');
  const heavy = taker('heavy');
  const [first] = [await queue.take(heavy), await queue.take(heavy)];
  const order: string[] = [];
  const ask = (callerId: string) =>
    queue.take(taker(callerId)).then((item) => {
      order.push(callerId);
      return item;
    });
  const waiting = { heavy: [ask('heavy'), ask('heavy')], light: ask('light'), other: ask('other') };
  queue.giveBack(first, heavy);
  queue.giveBack(await waiting.light, taker('light'));
  await waiting.other;
  expect(order).toEqual(['light', 'other']);
});

test('a caller gets the item that suits it best, of several the one that was used last', async () => {
  const suits = (item: string, origin: string) => (item.startsWith(origin) ? 1 : 0);
  const queue = createFairQueue(['mine 1', 'mine 2', 'other'], 'spare', suits);
  expect(await queue.take(taker('mine'))).toBe('mine 2');
  expect(await queue.take(taker('mine'))).toBe('mine 1');
  expect(await queue.take(taker('mine'))).toBe('other');
});

test('the spare is for the quick while slow ones hold all items', async () => {
  const queue = createFairQueue(['a'], 'spare');
  expect(await queue.take(taker('heavy'))).toBe('a');
  expect(await queue.take(taker('light', true))).toBe('spare');
});
