import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createJobs, type Jobs } from '../../../src/shared/queues/jobs.js';
import { bullConnection } from '../../../src/shared/redis/client.js';
import { keys, queueKeys } from '../../../src/shared/redis/keys.js';
import { makeContent, makeDocument } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const LANE = 'ingestion-quick';
const MAX_PRIORITY = 2 ** 21 - 1;

const { url, redis } = useTestRedis({ failFast: false });
/** The jobs of two API processes. */
let jobs: Jobs;
let others: Jobs;

beforeAll(() => {
  const connection = bullConnection(url, { failFast: false });
  [jobs, others] = [createJobs(parts()), createJobs(parts())];
  function parts() {
    return { connection, redis, onError: () => undefined };
  }
});

beforeEach(async () => {
  await redis.flushAll();
});

afterAll(async () => {
  await jobs.close();
  await others.close();
});

/** Documents of a caller, named after them and their number. */
async function add(
  caller: string,
  from: number,
  to: number,
  { by = jobs, sizeBytes = 30 } = {},
): Promise<void> {
  for (let n = from; n <= to; n += 1) {
    const pending = makeContent({ sizeBytes });
    const document = makeDocument({ id: `${caller}${String(n)}`, ownerId: caller, operation: null, pending });
    await by.addIngest(document, { requestId: 'request' });
  }
}

/** The jobs that a worker would take next, `count` of them, as BullMQ takes them. */
async function take(count: number): Promise<string[]> {
  const taken = await redis.zPopMinCount(queueKeys.prioritizedJobs(LANE), count);
  return taken.map(({ value }) => value.replace(/^ingest-(\w+)-1-1$/, '$1'));
}

const callers = (names: readonly string[]) => names.map((name) => name.replace(/\d+$/, '')).join('');

test("a caller's n-th waiting document never goes before another's first", async () => {
  await add('h', 1, 300);
  await add('l', 1, 2, { by: others });
  await add('m', 1, 1);
  expect(await take(4)).toEqual(['h1', 'l1', 'm1', 'h2']);
  await add('k', 1, 3, { by: others });
  // The first job of a caller goes at the place of everybody's next.
  expect(callers((await take(5)).toSorted())).toBe('hhklk'.split('').toSorted().join(''));
  expect(callers(await take(300))).toMatch(/^[hk]{1,3}h+$/);
});

test('documents of a caller go in the order in which they came', async () => {
  await add('h', 1, 40);
  await add('l', 1, 40);
  const taken = await take(80);
  for (const caller of ['h', 'l']) {
    const own = taken.filter((name) => name.startsWith(caller));
    expect(own).toEqual(Array.from({ length: 40 }, (_, i) => `${caller}${String(i + 1)}`));
  }
});

test('who was away has saved up nothing, and who was busy owes nothing', async () => {
  await add('h', 1, 200);
  await take(100);
  await add('l', 1, 20);
  // About half of the next forty for each: not all twenty of the caller who was away.
  const shared = callers(await take(20));
  expect(shared.match(/l/g)?.length).toBeGreaterThanOrEqual(9);
  expect(shared.match(/l/g)?.length).toBeLessThanOrEqual(11);
  await take(200);
  await add('l', 21, 40);
  await add('h', 201, 220);
  const again = callers(await take(20));
  expect(again.match(/h/g)?.length).toBeGreaterThanOrEqual(9);
});

test('a large document takes as much of its caller’s turn as many small ones', async () => {
  await add('h', 1, 10, { sizeBytes: 640_000 });
  await add('l', 1, 50);
  expect(callers(await take(23)).match(/h/g)?.length).toBe(3);
});

test('what nobody waits for goes after what its caller waits for, and starves nobody', async () => {
  const document = (id: string) => makeDocument({ id, ownerId: 'h', operation: null });
  for (let n = 1; n <= 50; n += 1) {
    await jobs.addIngest(document(`bulk${String(n)}`), { requestId: 'request', isPatient: true });
  }
  await jobs.addIngest(document('single'), { requestId: 'request' });
  expect((await take(2)).toSorted()).toEqual(['bulk1', 'single']);
});

test('a virtual time that becomes late begins anew, in the same order, and within what BullMQ takes', async () => {
  await redis.set(keys.virtualTime(LANE), String(2 ** 20 + 5));
  await redis.zAdd(queueKeys.prioritizedJobs(LANE), {
    value: 'ingest-first-1-1',
    score: (2 ** 20 + 5) * 2 ** 32,
  });
  await add('h', 1, 700);
  await add('l', 1, 3);
  const before = await redis.zRange(queueKeys.prioritizedJobs(LANE), 0, -1);
  expect(await jobs.rebase(LANE)).toBe(true);
  // In the midst of it somebody comes: their job is not behind the jobs that have not been moved yet.
  await add('m', 1, 1);
  while (await jobs.rebase(LANE));
  const after = await redis.zRangeWithScores(queueKeys.prioritizedJobs(LANE), 0, -1);
  expect(after.map(({ value }) => value).filter((id) => !id.includes('-m'))).toEqual(before);
  expect(after.findIndex(({ value }) => value === 'ingest-m1-1-1')).toBeLessThan(5);
  expect(Math.floor((after[0]?.score ?? 0) / 2 ** 32)).toBe(1);
  expect(Math.floor((after.at(-1)?.score ?? 0) / 2 ** 32)).toBeLessThan(1_000);
  const job = await jobs.queue(LANE).getJob('ingest-h700-1-1');
  expect(job?.priority).toBeLessThan(1_000);
  expect(await redis.exists(keys.rebase(LANE))).toBe(0);
  await add('k', 1, 1);
  expect((await take(6)).includes('k1')).toBe(true);
});

test('a job that comes back with a priority of before goes next', async () => {
  await add('h', 1, 50);
  await redis.zAdd(queueKeys.prioritizedJobs(LANE), { value: 'ingest-back-1-1', score: 1_500_000 * 2 ** 32 });
  expect(await jobs.rebase(LANE)).toBe(false);
  expect((await take(2)).includes('back')).toBe(true);
});

test('nothing asks BullMQ for a priority that it does not take, however much one caller adds', async () => {
  await redis.set(keys.virtualTime(LANE), String(2 ** 20));
  await add('h', 1, 1);
  await redis.zAdd(keys.turns(LANE), { value: 'waiting:h', score: MAX_PRIORITY - 2 });
  await add('h', 2, 6, { sizeBytes: 1_000_000 });
  await add('l', 1, 1);
  expect(await take(2)).toEqual(['h1', 'l1']);
  expect((await take(10)).length).toBe(5);
});

test('a large cache counts as much as so many documents, and holds no place of small ones', async () => {
  const build = (caller: string, n: number, documents: number) =>
    jobs.addCacheBuild(
      { ownerId: caller, name: `n${String(n)}`, build: `${caller}${String(n)}`, requestId: 'request' },
      { documents },
    );
  const takeFrom = async (lane: 'cache' | 'cache-quick') =>
    (await redis.zPopMinCount(queueKeys.prioritizedJobs(lane), 20)).map(({ value }) => value.slice(6));
  await build('h', 1, 30_000);
  await build('h', 2, 30_000);
  for (let n = 1; n <= 4; n += 1) await build('m', n, 1_000);
  await build('l', 1, 1);
  await build('h', 3, 100);
  expect(await takeFrom('cache')).toEqual(['h1', 'm1', 'm2', 'm3', 'm4', 'h2']);
  expect(await takeFrom('cache-quick')).toEqual(['l1', 'h3']);
});

test('a group costs as much as its documents, so that single texts of others go between groups', async () => {
  const lane = 'ingestion-groups';
  const requestId = 'request';
  const group = (caller: string, name: string, size: number) =>
    jobs.addIngests(
      Array.from({ length: size }, (_, n) => {
        const id = `${caller}${name}${String(n)}`;
        return { record: makeDocument({ id, ownerId: caller, operation: null }), group: `${caller}${name}` };
      }),
      { requestId },
    );
  for (const name of ['a', 'b', 'c']) await group('h', name, 32);
  for (const name of ['a', 'b', 'c']) await group('l', name, 2);
  const taken = await redis.zPopMinCount(queueKeys.prioritizedJobs(lane), 10);
  expect(taken.map(({ value }) => value.replace('ingest-group-', ''))).toEqual([
    'ha',
    'la',
    'lb',
    'lc',
    'hb',
    'hc',
  ]);
});
