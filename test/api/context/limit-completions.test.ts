import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { limitCompletions } from '../../../src/api/context/limit-completions.js';
import { createPromptCacheEngine } from '../../../src/shared/adapters/prompt-cache/cache-engine.js';
import { TryLaterError } from '../../../src/shared/errors.js';
import type { Completer } from '../../../src/shared/ports.js';
import { rejection } from '../../support/rejection.js';
import { until } from '../../support/until.js';

const prompt = { question: 'How tall is the lighthouse?', passages: [] };

/** A provider that answers when it is told to; `running` is by caller. */
function slowProvider() {
  const running = new Map<string, number>();
  const ends = new Map<string, (() => void)[]>();
  const completer: Completer = {
    model: 'slow',
    contextWindow: 4_096,
    complete: async function* (_, { callerId = '', signal } = {}) {
      running.set(callerId, (running.get(callerId) ?? 0) + 1);
      try {
        await new Promise<void>((resolve, reject) => {
          ends.set(callerId, [...(ends.get(callerId) ?? []), resolve]);
          signal?.addEventListener('abort', () => reject(new Error('left')), { once: true });
        });
        yield { type: 'end', finishReason: 'stop', promptTokens: 1, completionTokens: 0 };
      } finally {
        running.set(callerId, (running.get(callerId) ?? 0) - 1);
      }
    },
  };
  return {
    completer,
    of: (callerId: string) => running.get(callerId) ?? 0,
    all: () => [...running.values()].reduce((sum, each) => sum + each, 0),
    /** Ends so many of a caller's completions. */
    end: (callerId: string, count: number) =>
      ends
        .get(callerId)
        ?.splice(0, count)
        .forEach((end) => end()),
  };
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) expect(event).toMatchObject({ type: 'end' });
}

test('one caller has a bounded number of completions under way, and leaves room for others', async () => {
  const provider = slowProvider();
  const completer = limitCompletions(provider.completer);
  const leaving = new AbortController();
  const ask = (callerId: string, count: number) =>
    Array.from({ length: count }, () =>
      drain(completer.complete(prompt, { callerId, signal: leaving.signal })).catch(() => undefined),
    );
  const all = ask('greedy', 500);
  await sleep(50);
  expect(provider.of('greedy')).toBe(32);
  all.push(...ask('modest', 1));
  await until(() => provider.of('modest') === 1);
  all.push(...['b', 'c', 'd'].flatMap((caller) => ask(caller, 40)));
  await sleep(50);
  expect(provider.all()).toBe(64);
  for (const caller of ['b', 'c', 'd']) expect(provider.of(caller)).toBeLessThanOrEqual(16);
  // Beyond its share a caller gets no place that it gives back.
  provider.end('greedy', 16);
  await until(() => provider.of('greedy') === 16);
  await sleep(50);
  expect(['greedy', 'modest', 'b', 'c', 'd'].map((caller) => provider.of(caller))).toEqual([
    16, 1, 16, 16, 15,
  ]);
  leaving.abort();
  await Promise.all(all);
  expect(provider.all()).toBe(0);
  const last = drain(completer.complete(prompt, { callerId: 'last' }));
  await until(() => provider.of('last') === 1);
  provider.end('last', 1);
  await last;
});

test('a completion that finds no place in time is to be tried later, and so is that of a cache', async () => {
  const provider = slowProvider();
  const completer = limitCompletions(provider.completer, { waitMilliseconds: 50 });
  const cache = { ownerId: 'owner', name: 'cache', build: 'build' };
  const engine = createPromptCacheEngine({
    completer,
    countTokens: (text) => text.length,
    renderPrefix: () => '',
  });
  const running = Array.from({ length: 32 }, () => drain(completer.complete(prompt, { callerId: 'greedy' })));
  await until(() => provider.all() === 32);
  const refused = [
    completer.complete(prompt, { callerId: 'greedy' }),
    engine.query(cache, prompt, { callerId: 'greedy' }),
  ];
  for (const events of refused) {
    const error = await rejection(drain(events));
    expect(error).toBeInstanceOf(TryLaterError);
    expect(error).toMatchObject({ retryAfterSeconds: expect.any(Number) });
  }
  const other = drain(engine.query(cache, prompt, { callerId: 'modest' }));
  await until(() => provider.of('modest') === 1);
  provider.end('modest', 1);
  provider.end('greedy', 32);
  await Promise.all([other, ...running]);
});
