import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createChangeWaiter, type ChangeWaiter } from '../../src/api/services/ingest/waits.js';
import { keys } from '../../src/shared/redis/keys.js';
import { leastOfThree } from '../support/least-of-three.js';
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
  const value = await action;
  const endedAt = performance.now();
  return { value, endedAt, milliseconds: endedAt - start };
};

/** A waiter that is not woken looks by itself: as it ends here, and a second after it began elsewhere. */
const WOKEN_MILLISECONDS = 300;

test('a change wakes all who wait for that id, and nobody else', async () => {
  expect(await leastOfThree(wakeTwoOfThree, WOKEN_MILLISECONDS)).toBeLessThan(WOKEN_MILLISECONDS);
});

/** Milliseconds from a change to both who waited for it. */
async function wakeTwoOfThree(): Promise<number> {
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
  const changedAt = performance.now();
  await redis.publish(keys.changed, 'a');
  const [first, second, other] = await waits;
  expect([first.value, second.value, other.value]).toEqual(['new', 'new', 'old']);
  expect(other.milliseconds).toBeGreaterThan(650);
  expect([reads['first'], reads['second']]).toEqual([2, 2]);
  // Before and after its wait.
  expect(reads['other']).toBe(2);
  return Math.max(first.endedAt, second.endedAt) - changedAt;
}

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
  expect(await leastOfThree(changeDuringRead, WOKEN_MILLISECONDS)).toBeLessThan(WOKEN_MILLISECONDS);
});

/** Milliseconds that the wait took beyond the first read. */
async function changeDuringRead(): Promise<number> {
  const readMilliseconds = 100;
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
        await sleep(readMilliseconds);
        return 'old';
      },
    }),
  );
  expect([answer.value, reads]).toEqual(['new', 2]);
  return answer.milliseconds - readMilliseconds;
}

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
  // After a second; the wait itself would end after ten.
  expect(answer.milliseconds).toBeLessThan(5_000);
});

test('an abort ends the wait at once with the value as it stood', async () => {
  expect(await leastOfThree(abortWait, WOKEN_MILLISECONDS)).toBeLessThan(WOKEN_MILLISECONDS);
});

/** Milliseconds from the abort to the end of the wait. */
async function abortWait(): Promise<number> {
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
  const abortedAt = performance.now();
  const answer = await wait;
  expect(answer.value).toBe('as it stood');
  return answer.endedAt - abortedAt;
}

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
