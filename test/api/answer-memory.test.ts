import { expect, test } from '@jest/globals';
import { createAnswerMemory } from '../../src/api/services/retrieval/answer-memory.js';
import { UnavailableError } from '../../src/shared/errors.js';

const MEGABYTE = 1024 ** 2;

/** Of 16 MiB, large answers may take 12 together and 8 of one caller. */
const memoryOf = (waitMilliseconds = 10_000) =>
  createAnswerMemory({ limitBytes: 16 * MEGABYTE, waitMilliseconds });

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const still = Symbol('still');
  const later = new Promise((resolve) => setImmediate(() => resolve(still)));
  return (await Promise.race([promise.then(() => null), later])) === still;
}

test('one caller gets no more than half, and another is served meanwhile', async () => {
  const memory = memoryOf();
  const leases = [];
  for (let n = 0; n < 4; n += 1)
    leases.push(await memory.reserve({ callerId: 'heavy', bytes: 2 * MEGABYTE }));
  const fifth = memory.reserve({ callerId: 'heavy', bytes: 2 * MEGABYTE });
  expect(await isPending(fifth)).toBe(true);
  const other = await memory.reserve({ callerId: 'other', bytes: 2 * MEGABYTE });
  expect(memory.figures()).toEqual({ held: 10 * MEGABYTE, waiting: 1 });
  leases[0]?.release();
  leases[0]?.release();
  (await fifth).release();
  for (const lease of [...leases, other]) lease.release();
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('large answers leave room for small ones, whoever has taken it', async () => {
  const memory = memoryOf();
  await memory.reserve({ callerId: 'a', bytes: 8 * MEGABYTE });
  await memory.reserve({ callerId: 'b', bytes: 4 * MEGABYTE });
  expect(await isPending(memory.reserve({ callerId: 'c', bytes: MEGABYTE }))).toBe(true);
  const small = 128 * 1024;
  for (const callerId of ['a', 'b', 'c'])
    expect(await isPending(memory.reserve({ callerId, bytes: small }))).toBe(false);
});

test('who waits is served in the order of asking', async () => {
  const memory = memoryOf();
  const first = await memory.reserve({ callerId: 'a', bytes: 8 * MEGABYTE });
  const second = await memory.reserve({ callerId: 'b', bytes: 4 * MEGABYTE });
  const large = memory.reserve({ callerId: 'c', bytes: 8 * MEGABYTE });
  const later = memory.reserve({ callerId: 'd', bytes: 4 * MEGABYTE });
  second.release();
  expect([await isPending(large), await isPending(later)]).toEqual([true, true]);
  first.release();
  await Promise.all([large, later]);
});

test('who has waited too long is asked to come again, who leaves is forgotten', async () => {
  const memory = memoryOf(20);
  const lease = await memory.reserve({ callerId: 'a', bytes: 8 * MEGABYTE });
  await expect(memory.reserve({ callerId: 'a', bytes: MEGABYTE })).rejects.toThrow(UnavailableError);
  const leaving = new AbortController();
  const left = memory.reserve({ callerId: 'a', bytes: MEGABYTE, signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(memory.figures()).toEqual({ held: 8 * MEGABYTE, waiting: 0 });
  lease.resize(MEGABYTE);
  expect(await isPending(memory.reserve({ callerId: 'a', bytes: MEGABYTE }))).toBe(false);
});

test('an answer larger than its share comes when its caller has nothing else', async () => {
  const memory = memoryOf();
  const lease = await memory.reserve({ callerId: 'a', bytes: 100 * MEGABYTE });
  lease.resize(100 * MEGABYTE);
  expect(await isPending(memory.reserve({ callerId: 'b', bytes: MEGABYTE }))).toBe(true);
});
