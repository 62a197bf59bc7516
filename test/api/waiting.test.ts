import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createChangeWaiter, type ChangeWaiter } from '../../src/api/services/ingest/change-waiter.js';
import { keys } from '../../src/shared/redis/keys.js';
import { useTestRedis } from '../support/use-test-redis.js';

const { redis } = useTestRedis();
let waiter: ChangeWaiter;
const never = new AbortController().signal;

beforeAll(async () => {
  waiter = await createChangeWaiter(redis, () => undefined);
});
afterAll(() => {
  waiter.close();
});

const timed = async <Value>(action: Promise<Value>) => {
  const start = performance.now();
  return { value: await action, milliseconds: performance.now() - start };
};

test('a change wakes all who wait for that id, and nobody else', async () => {
  const reads: Record<string, number> = {};
  let state = 'old';
  const wait = (id: string, name: string) =>
    waiter.waitFor({
      id,
      milliseconds: 700,
      signal: never,
      isDone: (value) => value === 'new',
      read: () => {
        reads[name] = (reads[name] ?? 0) + 1;
        return Promise.resolve(id === 'a' ? state : 'old');
      },
    });
  const waits = Promise.all([
    timed(wait('a', 'first')),
    timed(wait('a', 'second')),
    timed(wait('b', 'other')),
  ]);
  await sleep(100);
  state = 'new';
  await redis.publish(keys.changed, 'a');
  const [first, second, other] = await waits;
  expect([first.value, second.value, other.value]).toEqual(['new', 'new', 'old']);
  expect(Math.max(first.milliseconds, second.milliseconds)).toBeLessThan(400);
  expect(other.milliseconds).toBeGreaterThan(650);
  expect([reads['first'], reads['second']]).toEqual([2, 2]);
  // Before and after its wait; a timer may be a little early.
  expect(reads['other']).toBeLessThanOrEqual(3);
});

test('what is known not to have changed yet is read only after a change', async () => {
  let reads = 0;
  const answer = waiter.waitFor<string>({
    id: 'known',
    known: 'old',
    milliseconds: 700,
    signal: never,
    isDone: (value) => value === 'new',
    read: () => {
      reads += 1;
      return Promise.resolve('new');
    },
  });
  await sleep(50);
  expect(reads).toBe(0);
  await redis.publish(keys.changed, 'known');
  expect(await answer).toBe('new');
  expect(reads).toBe(1);
});

test('a change between the first read and the wait is not missed', async () => {
  let reads = 0;
  const answer = await timed(
    waiter.waitFor({
      id: 'c',
      milliseconds: 5_000,
      signal: never,
      isDone: (value) => value === 'new',
      read: async () => {
        reads += 1;
        if (reads > 1) return 'new';
        // The message comes while what was read before it is still on its way.
        await redis.publish(keys.changed, 'c');
        await sleep(100);
        return 'old';
      },
    }),
  );
  expect([answer.value, reads]).toEqual(['new', 2]);
  expect(answer.milliseconds).toBeLessThan(500);
});

test('a change that no message tells is found by asking again', async () => {
  const start = performance.now();
  const answer = await timed(
    waiter.waitFor({
      id: 'd',
      milliseconds: 10_000,
      signal: never,
      isDone: (value: number) => value > 300,
      read: () => Promise.resolve(performance.now() - start),
    }),
  );
  expect(answer.milliseconds).toBeLessThan(2_000);
});

test('an abort ends the wait at once with the value as it stood', async () => {
  const leaving = new AbortController();
  const wait = timed(
    waiter.waitFor({
      id: 'e',
      milliseconds: 10_000,
      signal: leaving.signal,
      read: () => Promise.resolve('as it stood'),
      isDone: () => false,
    }),
  );
  await sleep(50);
  leaving.abort();
  const answer = await wait;
  expect(answer.value).toBe('as it stood');
  expect(answer.milliseconds).toBeLessThan(500);
});

test('a failing read is passed on', async () => {
  const wait = waiter.waitFor({
    id: 'f',
    milliseconds: 1_000,
    signal: never,
    isDone: () => false,
    read: () => Promise.reject(new Error('away')),
  });
  await expect(wait).rejects.toThrow('away');
});
