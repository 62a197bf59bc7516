import { expect, jest, test } from '@jest/globals';
import { createFairQueue, type Lent } from '../../../src/workers/parse/fair-queue.js';

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
    queue.take(taker(callerId)).then((lent) => {
      order.push(callerId);
      return lent;
    });
  const waiting = { heavy: [ask('heavy'), ask('heavy')], light: ask('light'), other: ask('other') };
  first.giveBack();
  (await waiting.light).giveBack();
  await waiting.other;
  expect(order).toEqual(['light', 'other']);
});

test('a caller gets the item that suits it best, of several the one that was used last', async () => {
  const suits = (item: string, origin: string) => (item.startsWith(origin) ? 1 : 0);
  const queue = createFairQueue(['mine 1', 'mine 2', 'other'], 'spare', suits);
  expect((await queue.take(taker('mine'))).item).toBe('mine 2');
  expect((await queue.take(taker('mine'))).item).toBe('mine 1');
  expect((await queue.take(taker('mine'))).item).toBe('other');
});

test('the spare is for the quick while slow ones hold all items', async () => {
  const queue = createFairQueue(['a'], 'spare');
  expect((await queue.take(taker('heavy'))).item).toBe('a');
  expect((await queue.take(taker('light', true))).item).toBe('spare');
});

const givesWay = (lent: Lent<string>) => lent.isWanted(60_000);

test('a caller who holds all items gives one of them to another after five seconds, that which it took last', async () => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const queue = createFairQueue(['a', 'b'], 'spare');
    const [first, second] = [await queue.take(taker('heavy')), await queue.take(taker('heavy'))];
    const own = queue.take(taker('heavy'));
    jest.advanceTimersByTime(6_000);
    expect([first, second].map(givesWay)).toEqual([false, false]);
    const other = queue.take(taker('light'));
    expect([first, second].map(givesWay)).toEqual([false, true]);
    second.giveBack();
    expect((await other).item).toBe(second.item);
    // It goes before the first's own, and the first one has used more.
    expect(givesWay(first)).toBe(false);
    (await other).giveBack();
    await own;
  } finally {
    jest.useRealTimers();
  }
});

test('of many callers with slow tasks, only the last one that began gives way soon, and those who have used less go first', async () => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const queue = createFairQueue(['a', 'b'], 'spare');
    const [first, second] = [await queue.take(taker('one')), await queue.take(taker('two'))];
    jest.advanceTimersByTime(6_000);
    const order: string[] = [];
    const again = ['one', 'two', 'new'].map(async (callerId) => {
      const lent = await queue.take(taker(callerId));
      order.push(callerId);
      return lent;
    });
    expect([first, second].map(givesWay)).toEqual([false, true]);
    second.giveBack();
    await again[2];
    expect(order).toEqual(['new']);
    jest.advanceTimersByTime(60_000);
    expect(givesWay(first)).toBe(true);
    first.giveBack();
    await again[1];
    expect(order).toEqual(['new', 'two']);
  } finally {
    jest.useRealTimers();
  }
});

test('the time in which an item is prepared does not count for how long a task has it', async () => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const queue = createFairQueue(['a', 'b'], 'spare');
    const lent = [await queue.take(taker('one')), await queue.take(taker('two'))];
    void queue.take(taker('light'));
    jest.advanceTimersByTime(2_700);
    const isWanted = (prepared: number) => lent.map((each) => each.isWanted(2_000, prepared));
    expect(isWanted(800)).toEqual([false, false]);
    expect(isWanted(Infinity)).toEqual([false, false]);
    expect(isWanted(600)).toEqual([true, false]);
  } finally {
    jest.useRealTimers();
  }
});
