import { expect, test } from '@jest/globals';
import { createAnswerMemory } from '../../../../src/api/services/answer-memory/answer-memory.js';
import { UnavailableError } from '../../../../src/shared/errors.js';

const MEGABYTE = 1024 ** 2;

const small = { bytes: 128 * 1024 };

/** Large answers may take 12 of 16 MiB together, and 8 of one caller. */
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

test('large answers leave room for small ones, whichever callers have taken it', async () => {
  const memory = memoryOf();
  await memory.reserve({ callerId: 'a', bytes: 8 * MEGABYTE });
  await memory.reserve({ callerId: 'b', bytes: 4 * MEGABYTE });
  expect(await isPending(memory.reserve({ callerId: 'c', bytes: MEGABYTE }))).toBe(true);
  for (const callerId of ['a', 'b', 'c'])
    expect(await isPending(memory.reserve({ callerId, bytes: 128 * 1024 }))).toBe(false);
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

test('an answer larger than its share comes when its caller has nothing else, and takes nothing of others', async () => {
  const memory = memoryOf();
  const lease = await memory.reserve({ callerId: 'a', bytes: 100 * MEGABYTE });
  expect(lease.resize(100 * MEGABYTE)).toBe(true);
  expect(memory.figures().held).toBe(8 * MEGABYTE);
  expect(await isPending(memory.reserve({ callerId: 'a', bytes: MEGABYTE }))).toBe(true);
  expect(await isPending(memory.reserve({ callerId: 'b', bytes: MEGABYTE }))).toBe(false);
});

test('what a caller holds passes its share in no way, however its answers grow', async () => {
  const memory = memoryOf();
  const leases = [];
  for (let n = 0; n < 60; n += 1) leases.push(await memory.reserve({ callerId: 'heavy', ...small }));
  for (const lease of leases) lease.resize(2 * MEGABYTE);
  for (let n = 0; n < 20; n += 1)
    void memory.keep({ callerId: 'heavy', bytes: MEGABYTE }).catch(() => undefined);
  expect(memory.figures().held).toBeLessThanOrEqual(10 * MEGABYTE);
  expect(leases[0]?.resize(8 * MEGABYTE)).toBe(false);
  expect(leases[0]?.resize(MEGABYTE)).toBe(true);
  expect(await isPending(memory.reserve({ callerId: 'other', bytes: MEGABYTE }))).toBe(false);
});

test('callers who hold next to nothing go at once when several others have filled the rest', async () => {
  const memory = memoryOf();
  for (const callerId of ['a', 'b', 'c']) {
    const lease = await memory.reserve({ callerId, ...small });
    for (let n = 0; n < 200; n += 1) void memory.reserve({ callerId, ...small }).catch(() => undefined);
    lease.resize(8 * MEGABYTE);
    for (let n = 0; n < 20; n += 1) void memory.keep({ callerId, bytes: MEGABYTE }).catch(() => undefined);
  }
  // Seven eighths, and what is kept for each caller of one more.
  expect(memory.figures().held).toBeLessThanOrEqual(14.25 * MEGABYTE);
  for (const callerId of ['d', 'e', 'f']) {
    const lease = await memory.reserve({ callerId, ...small });
    expect(await isPending(memory.reserve({ callerId, ...small }))).toBe(false);
    expect(await isPending(memory.reserve({ callerId, ...small }))).toBe(true);
    lease.release();
  }
});

test('what has begun gives back what it has and goes on before what has not', async () => {
  const memory = memoryOf(20);
  const lists = [];
  for (let n = 0; n < 40; n += 1) lists.push(await memory.reserve({ callerId: 'a', bytes: 200 * 1024 }));
  const [first, second] = lists;
  // Each needs more than there is while all have theirs: one after the other they come to it.
  const going = lists.map(async (lease) => {
    await lease.exchange({ bytes: 3 * MEGABYTE, isSent: true });
    await new Promise((resolve) => setTimeout(resolve, 2));
    lease.release();
  });
  const later = memory.reserve({ callerId: 'a', bytes: 7 * MEGABYTE });
  await expect(later).rejects.toThrow(UnavailableError);
  await Promise.all(going);
  expect([first === second, memory.figures()]).toEqual([false, { held: 0, waiting: 0 }]);
  const held = await memory.reserve({ callerId: 'b', bytes: 8 * MEGABYTE });
  const other = await memory.reserve({ callerId: 'b', ...small });
  await expect(other.exchange({ bytes: 3 * MEGABYTE, isSent: false })).rejects.toThrow(UnavailableError);
  const left = new AbortController();
  const going2 = other.exchange({ bytes: 3 * MEGABYTE, isSent: true, signal: left.signal });
  left.abort(new Error('gone'));
  await expect(going2).rejects.toThrow('gone');
  const released = other.exchange({ bytes: 3 * MEGABYTE, isSent: true });
  other.release();
  held.release();
  await released;
  expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
});

test('a caller has a bounded number waiting, and the rest is refused at once', async () => {
  const memory = memoryOf();
  await memory.reserve({ callerId: 'a', bytes: 8 * MEGABYTE });
  const refused: unknown[] = [];
  for (let n = 0; n < 3_000; n += 1)
    memory.reserve({ callerId: 'a', bytes: MEGABYTE }).catch((error: unknown) => refused.push(error));
  await new Promise((resolve) => setImmediate(resolve));
  expect(memory.figures().waiting).toBe(100);
  expect(refused).toHaveLength(2_900);
  expect(refused[0]).toBeInstanceOf(UnavailableError);
  expect(await isPending(memory.reserve({ callerId: 'a', ...small }))).toBe(false);
  expect(await isPending(memory.reserve({ callerId: 'b', bytes: MEGABYTE }))).toBe(false);
});

test('answers of a caller that are there already take no more than its share again while they wait', async () => {
  const memory = memoryOf();
  const held = await memory.keep({ callerId: 'a', bytes: 8 * MEGABYTE });
  const refused: unknown[] = [];
  const kept: unknown[] = [];
  for (let n = 0; n < 20; n += 1)
    memory.keep({ callerId: 'a', bytes: 2 * MEGABYTE }).then(
      (lease) => kept.push(lease),
      (error: unknown) => refused.push(error),
    );
  await new Promise((resolve) => setImmediate(resolve));
  expect([memory.figures().waiting, refused.length]).toEqual([4, 16]);
  expect(refused[0]).toBeInstanceOf(UnavailableError);
  // Those that have nothing yet may wait beside them, and others may have their own.
  expect(await isPending(memory.reserve({ callerId: 'a', bytes: MEGABYTE }))).toBe(true);
  expect(await isPending(memory.keep({ callerId: 'b', bytes: MEGABYTE }))).toBe(false);
  held.release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(kept.length).toBeGreaterThanOrEqual(3);
});

test('what changes costs the same however many callers wait for others of their own', async () => {
  const cost = async (callers: number) => {
    const memory = createAnswerMemory({ limitBytes: 1024 * 1024 * MEGABYTE, waitMilliseconds: 100_000 });
    const leaving = new AbortController();
    const { signal } = leaving;
    const waiting: Promise<unknown>[] = [];
    const held = await memory.reserve({ callerId: 'z', bytes: 2 ** 38 });
    for (let n = 0; n < callers; n += 1) {
      const callerId = String(n);
      await memory.reserve({ callerId, bytes: MEGABYTE });
      for (let i = 0; i < 50; i += 1)
        waiting.push(memory.reserve({ callerId, bytes: 2 ** 39, signal }).catch(() => null));
    }
    const started = process.cpuUsage();
    for (let n = 0; n < 20_000; n += 1) (await memory.reserve({ callerId: 'quick', ...small })).release();
    const { user, system } = process.cpuUsage(started);
    leaving.abort();
    await Promise.all(waiting);
    held.release();
    return (user + system) / 1_000;
  };
  await cost(1);
  const few = await cost(2);
  expect(await cost(200)).toBeLessThan(5 * few + 200);
}, 60_000);
