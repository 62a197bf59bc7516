import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { createModelTurns, type ModelTurn, type ModelTurns } from '../../src/models/engine/model-turns.js';

const { signal } = new AbortController();

test('urgent tasks go before those of the background, but not for ever', async () => {
  const turns = createModelTurns({ atOnce: 1, maxWaiting: 100 });
  const order: string[] = [];
  const run = (name: string, isUrgent: boolean) =>
    turns.take({ isUrgent, signal }, () => {
      order.push(name);
      return Promise.resolve();
    });
  const first = turns.take({ isUrgent: true, signal }, () => new Promise((done) => setTimeout(done, 20)));
  const documents = ['d1', 'd2'].map((name) => run(name, false));
  const queries = Array.from({ length: 20 }, (_, n) => run(`q${String(n)}`, true));
  await Promise.all([first, ...documents, ...queries]);
  expect(order.indexOf('d1')).toBe(8);
  expect(order.indexOf('d2')).toBe(17);
});

test('where the background has fewer places, one stays for what is urgent', async () => {
  const turns = createModelTurns({ atOnce: 2, background: 1, maxWaiting: 100 });
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const run = (name: string, isUrgent: boolean) =>
    turns.take({ isUrgent, signal }, () => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    });
  const all = [run('build 1', false), run('build 2', false), run('question', true)];
  await new Promise(setImmediate);
  expect(begun).toEqual(['build 1', 'question']);
  for (let n = 0; n < all.length; n += 1) {
    ends[n]?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
  expect(begun).toEqual(['build 1', 'question', 'build 2']);
});

test('one who leaves gives up the place in the queue, which holds no more than its length', async () => {
  const turns = createModelTurns({ atOnce: 1, maxWaiting: 1 });
  const begun: string[] = [];
  const run = (name: string, leaving: AbortSignal) =>
    turns.take({ isUrgent: true, signal: leaving }, () => {
      begun.push(name);
      return new Promise((done) => setTimeout(done, 20));
    });
  const leaver = new AbortController();
  const first = run('first', signal);
  const left = expect(run('leaver', leaver.signal)).rejects.toThrow('the client has left');
  await expect(run('too many', signal)).rejects.toMatchObject({ code: 'overloaded' });
  leaver.abort(new Error('the client has left'));
  await left;
  expect(turns.waiting).toBe(0);
  await Promise.all([first, run('next', signal)]);
  expect(begun).toEqual(['first', 'next']);
});

/** Holds a place until it is told to end, or to look whether it is to give way. */
function holding(turns: ModelTurns, by: string, isUrgent = true) {
  let turn: ModelTurn | null = null;
  let end: () => void = () => undefined;
  const done = turns.take({ by, isUrgent, signal }, (given) => {
    turn = given;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return {
    done,
    hasBegun: () => turn !== null,
    isWanted: () => turn?.isWanted(),
    end: async () => {
      end();
      await done;
    },
  };
}

test('of those who wait, who has fewest conversations goes first, and then who has used least', async () => {
  const turns = createModelTurns({ atOnce: 1, maxWaiting: 100 });
  const first = holding(turns, 'greedy');
  await sleep(50);
  const [again, other] = [holding(turns, 'greedy'), holding(turns, 'modest')];
  await first.end();
  await sleep(0);
  expect([again.hasBegun(), other.hasBegun()]).toEqual([false, true]);
  await other.end();
  await sleep(0);
  expect(again.hasBegun()).toBe(true);
  await again.end();
});

test('who has all conversations gives one of them to another soon, the one that began last, and no more', async () => {
  const turns = createModelTurns({ atOnce: 2, maxWaiting: 100 });
  const [first, second] = [holding(turns, 'greedy'), holding(turns, 'greedy')];
  await sleep(600);
  expect([first.isWanted(), second.isWanted()]).toEqual([false, false]);
  const third = holding(turns, 'greedy');
  await sleep(0);
  expect([first.isWanted(), second.isWanted()]).toEqual([false, false]);
  const other = holding(turns, 'modest');
  await sleep(0);
  expect([first.isWanted(), second.isWanted()]).toEqual([false, true]);
  await second.end();
  await sleep(0);
  expect([third.hasBegun(), other.hasBegun()]).toEqual([false, true]);
  // They now have one each, and a turn is not yet over after a second.
  expect([first.isWanted(), other.isWanted()]).toEqual([false, false]);
  await Promise.all([first.end(), other.end()]);
  await sleep(0);
  await third.end();
});

test('the only conversation is given to another after five seconds, and that of the background to any answer', async () => {
  jest.useFakeTimers({ doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const turns = createModelTurns({ atOnce: 1, maxWaiting: 1 });
    const building = holding(turns, 'greedy', false);
    await sleep(0);
    jest.advanceTimersByTime(6_000);
    const answer = holding(turns, 'greedy');
    expect(building.isWanted()).toBe(true);
    await building.end();
    await sleep(0);
    jest.advanceTimersByTime(4_000);
    const other = holding(turns, 'modest');
    expect(answer.isWanted()).toBe(false);
    jest.advanceTimersByTime(2_000);
    expect(answer.isWanted()).toBe(true);
    // A request that gave way is not refused, although the queue is full.
    const again = turns.take({ by: 'greedy', isUrgent: true, hasBegun: true, signal }, () =>
      Promise.resolve('went on'),
    );
    await answer.end();
    await sleep(0);
    expect(other.hasBegun()).toBe(true);
    await other.end();
    expect(await again).toBe('went on');
  } finally {
    jest.useRealTimers();
  }
});
