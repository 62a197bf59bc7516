import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { RerankError, UnavailableError } from '../../../src/shared/errors.js';
import {
  createRerankPauses,
  createReranking,
  type RerankTask,
} from '../../../src/shared/models/reranking.js';
import type { Reranker } from '../../../src/shared/ports.js';
import { until } from '../../support/until.js';

type Answer = (documents: readonly string[], signal?: AbortSignal) => Promise<readonly number[]>;

/** Answers with the lengths of documents, in hundredths, until it is told otherwise. */
const rightAnswer: Answer = (documents) => Promise.resolve(documents.map(({ length }) => length / 100));
const hang: Answer = (_, signal) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('left')), { once: true });
  });
const fail =
  (error: Error): Answer =>
  () =>
    Promise.reject(error);

function setUp({ documents = 10, pauseSeconds = 0.1, deadlineMilliseconds = 5_000 } = {}) {
  const world = { answer: rightAnswer };
  const batches: { by: string; size: number }[] = [];
  const running = new Map<string, number>();
  const outcomes: [string, boolean][] = [];
  const failures: string[] = [];
  const change = (by: string, change: number) => running.set(by, (running.get(by) ?? 0) + change);
  const reranker: Reranker = {
    model: 'fake',
    limits: { documents },
    rerank: async (_, texts, { callerId = '', signal } = {}) => {
      batches.push({ by: callerId, size: texts.length });
      change(callerId, 1);
      try {
        return { scores: await world.answer(texts, signal), tokens: texts.length };
      } finally {
        change(callerId, -1);
      }
    },
  };
  const reranking = createReranking(reranker, {
    candidates: 20,
    deadlineMilliseconds,
    pauseSeconds,
    onOutcome: (outcome, seconds) => outcomes.push([outcome, seconds !== null && seconds >= 0]),
    onFailure: (_, reason) => failures.push(reason),
  });
  const rerank = (more: Partial<RerankTask> & { readonly count?: number } = {}) =>
    reranking.rerank({
      callerId: 'ann',
      query: 'which',
      documents: Array.from({ length: more.count ?? 3 }, (_, i) => 'x'.repeat(i + 1)),
      milliseconds: deadlineMilliseconds,
      ...more,
    });
  const all = () => [...running.values()].reduce((sum, each) => sum + each, 0);
  return { world, batches, running, outcomes, failures, reranking, rerank, all };
}

test('texts go in batches of as many as the provider takes, and scores come in the order of the texts', async () => {
  const { rerank, batches, outcomes } = setUp();
  const reranked = await rerank({ count: 25 });
  if (reranked.type !== 'applied') throw new Error(reranked.reason);
  expect(reranked.scores).toEqual(Array.from({ length: 25 }, (_, i) => (i + 1) / 100));
  expect(reranked.tokens).toBe(25);
  expect(batches.map(({ size }) => size)).toEqual([10, 10, 5]);
  expect(outcomes).toEqual([['applied', true]]);
});

test('whatever takes too long is ended, also where the provider heeds no signal', async () => {
  for (const answer of [hang, () => new Promise<never>(() => undefined)]) {
    const { world, rerank, outcomes, failures, all } = setUp();
    world.answer = answer;
    expect(await rerank({ milliseconds: 30, count: 25 })).toEqual({ type: 'skipped', reason: 'timeout' });
    expect([outcomes, failures]).toEqual([[['timeout', true]], ['timeout']]);
    if (answer === hang) await until(() => all() === 0);
  }
});

test('a batch that fails ends the others', async () => {
  const { world, rerank, all } = setUp();
  let calls = 0;
  world.answer = (documents, signal) => {
    calls += 1;
    return calls === 2 ? fail(new RerankError('bad_reply'))(documents) : hang(documents, signal);
  };
  expect(await rerank({ count: 30 })).toEqual({ type: 'skipped', reason: 'bad_reply' });
  await until(() => all() === 0);
});

test('each kind of failure has its name; a mistake of ours is none of them', async () => {
  const cases = [
    [new RerankError('unavailable'), 'unavailable'],
    [new RerankError('bad_reply'), 'bad_reply'],
    [new RerankError('refused'), 'refused'],
    [new UnavailableError('models'), 'unavailable'],
  ] as const;
  for (const [error, reason] of cases) {
    const { world, rerank } = setUp();
    world.answer = fail(error);
    expect(await rerank()).toEqual({ type: 'skipped', reason });
  }
  const { world, rerank } = setUp();
  world.answer = fail(new TypeError('a mistake'));
  await expect(rerank()).rejects.toThrow('a mistake');
});

afterEach(() => {
  jest.useRealTimers();
});

test('a caller who leaves gets no answer, and is no failure', async () => {
  const { world, rerank, reranking, failures, outcomes, all } = setUp();
  world.answer = hang;
  const controller = new AbortController();
  const asked = rerank({ signal: controller.signal });
  const reason = new Error('the caller has left');
  controller.abort(reason);
  await expect(asked).rejects.toBe(reason);
  await until(() => all() === 0);
  expect([reranking.mayBegin('ann'), failures, outcomes]).toEqual([true, [], []]);
});

test('one caller has a bounded number of requests under way, and leaves room for others', async () => {
  const { world, rerank, running, all, reranking } = setUp({ documents: 1 });
  world.answer = hang;
  const leaving = new AbortController();
  const ask = (callerId: string, times: number) =>
    Array.from({ length: times }, () =>
      rerank({ callerId, count: 10, signal: leaving.signal }).catch(() => null),
    );
  const asked = ask('greedy', 5);
  await sleep(50);
  expect(running.get('greedy')).toBe(16);
  asked.push(...ask('modest', 1));
  await until(() => running.get('modest') === 8);
  asked.push(...['b', 'c', 'd', 'e'].flatMap((caller) => ask(caller, 5)));
  await sleep(50);
  expect(all()).toBe(32);
  for (const caller of ['b', 'c', 'd', 'e']) expect(running.get(caller) ?? 0).toBeLessThanOrEqual(8);
  leaving.abort();
  await Promise.all(asked);
  expect(all()).toBe(0);
  world.answer = rightAnswer;
  expect((await rerank({ callerId: 'last' })).type).toBe('applied');
  expect(reranking.mayBegin('greedy')).toBe(true);
});

test('who finds no turn in time, or no place to wait, is not the provider’s failure', async () => {
  const { world, rerank, reranking, failures } = setUp({ documents: 1 });
  world.answer = hang;
  const leaving = new AbortController();
  const running = rerank({ callerId: 'ann', count: 16, signal: leaving.signal }).catch(() => null);
  expect(await rerank({ milliseconds: 30 })).toEqual({ type: 'skipped', reason: 'busy' });
  expect(await rerank({ count: 1_001 })).toEqual({ type: 'skipped', reason: 'busy' });
  expect([reranking.mayBegin('ann'), failures]).toEqual([true, []]);
  leaving.abort();
  await running;
});

test('after a failure its caller is not kept waiting again for a while, and others are not told', async () => {
  for (const error of [new RerankError('unavailable'), new RerankError('bad_reply')]) {
    const { world, rerank, reranking, outcomes } = setUp();
    world.answer = fail(error);
    await rerank({ callerId: 'ann' });
    expect([reranking.mayBegin('ann'), reranking.mayBegin('bob')]).toEqual([false, true]);
    expect(outcomes.at(-1)).toEqual(['paused', false]);
    await until(() => reranking.mayBegin('ann'));
  }
});

test('once a second caller has seen a failure, nobody is kept waiting, unless there was an answer in between', async () => {
  const { world, rerank, reranking } = setUp({ pauseSeconds: 60 });
  world.answer = fail(new RerankError('unavailable'));
  await rerank({ callerId: 'ann' });
  world.answer = rightAnswer;
  expect((await rerank({ callerId: 'bob' })).type).toBe('applied');
  world.answer = fail(new RerankError('unavailable'));
  await rerank({ callerId: 'cid' });
  expect(reranking.mayBegin('dan')).toBe(true);
  await rerank({ callerId: 'bob' });
  expect(reranking.mayBegin('dan')).toBe(false);
});

test('what a provider refuses pauses nobody, and what is larger than usual nobody but its caller', async () => {
  const { world, rerank, reranking } = setUp({ pauseSeconds: 60 });
  world.answer = fail(new RerankError('refused'));
  for (const callerId of ['ann', 'bob']) await rerank({ callerId });
  expect([reranking.mayBegin('ann'), reranking.mayBegin('bob')]).toEqual([true, true]);
  world.answer = hang;
  for (const callerId of ['ann', 'bob']) await rerank({ callerId, count: 21, milliseconds: 20 });
  expect(['ann', 'bob', 'cid'].map((caller) => reranking.mayBegin(caller))).toEqual([false, false, true]);
});

test('a wait that the provider asks for is kept for all', async () => {
  const { world, rerank, reranking, batches } = setUp({ documents: 1 });
  world.answer = fail(new RerankError('unavailable', { pauseSeconds: 0.2 }));
  await rerank({ callerId: 'ann', count: 1 });
  expect(reranking.mayBegin('bob')).toBe(false);
  // One that has begun before, and gets its turn now.
  const before = batches.length;
  expect(await rerank({ callerId: 'bob' })).toEqual({ type: 'skipped', reason: 'paused' });
  expect(batches.length).toBe(before);
  await until(() => reranking.mayBegin('bob'));
});

test('no pause is longer than a minute, and that after a failure takes five seconds', () => {
  jest.useFakeTimers();
  const pauses = createRerankPauses();
  pauses.noteFailure('ann', { pauseSeconds: 3_600, isUnusual: false });
  jest.advanceTimersByTime(59_900);
  expect(pauses.isPaused('bob')).toBe(true);
  jest.advanceTimersByTime(200);
  expect(pauses.isPaused('bob')).toBe(false);
  pauses.noteFailure('ann', { pauseSeconds: 0, isUnusual: false });
  jest.advanceTimersByTime(4_900);
  expect([pauses.isPaused('ann'), pauses.isPaused('bob')]).toEqual([true, false]);
  jest.advanceTimersByTime(200);
  expect(pauses.isPaused('ann')).toBe(false);
});
