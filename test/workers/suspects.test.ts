import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Queue } from 'bullmq';
import pino from 'pino';
import { openQueue } from '../../src/shared/queues/jobs.js';
import { bullConnection } from '../../src/shared/redis/client.js';
import { queueKeys } from '../../src/shared/redis/keys.js';
import { createLaneWorker, type JobHandler } from '../../src/workers/lane-worker.js';
import { createSuspects } from '../../src/workers/suspects.js';
import { until } from '../support/until.js';
import { useTestRedis } from '../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const connection = bullConnection(url, { failFast: false });
const LANE = 'embedding';
let queue: Queue;

beforeEach(async () => {
  await redis.flushAll();
  queue = openQueue(LANE, connection);
});
afterEach(() => queue.close());

/** Adds a job that BullMQ has taken from dead workers before. */
async function addStalled(id: string, data: object = {}): Promise<void> {
  await queue.pause();
  await queue.add('embed', { id, ...data }, { jobId: id });
  await redis.hSet(queueKeys.job(LANE, id), 'stc', '7');
  await queue.resume();
}

function startWorker(handler: JobHandler) {
  return createLaneWorker({
    queue: LANE,
    connection,
    concurrency: 8,
    lockMilliseconds: 10_000,
    handlers: { embed: handler },
    suspects: createSuspects(),
    logger: pino({ level: 'silent' }),
  });
}

test('a job that workers gave back when they were stopped is not given up, however often that was', async () => {
  await addStalled('innocent');
  let runs = 0;
  let given = 0;
  const giveUp = () => Promise.resolve((given += 1));
  for (let restarts = 1; restarts <= 4; restarts += 1) {
    const worker = startWorker({
      run: (_job, signal) =>
        new Promise((_, reject) => {
          runs += 1;
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        }),
      giveUp,
    });
    await until(() => runs === restarts);
    await worker.close(0);
  }
  const worker = startWorker({ run: () => Promise.resolve('done'), giveUp });
  await until(async () => (await queue.getJobCounts('completed'))['completed'] === 1);
  await worker.close(0);
  expect(given).toBe(0);
});

test('a job that was running alone at two deaths after its first is given up, and is not run', async () => {
  await addStalled('deadly', { deathsAlone: 2 });
  const reasons: string[] = [];
  let runs = 0;
  const worker = startWorker({
    run: () => Promise.resolve((runs += 1)).then(() => 'done'),
    giveUp: (_job, reason) => Promise.resolve(reasons.push(reason)),
  });
  await until(async () => (await queue.getJobCounts('failed'))['failed'] === 1);
  await worker.close(0);
  expect([reasons, runs]).toEqual([['deadly'], 0]);
});

test('jobs of which workers have died run one after the other, and do not hold up others', async () => {
  for (const id of ['one', 'two', 'three']) await addStalled(id);
  const suspects = new Set(['one', 'two', 'three']);
  let [running, most] = [0, 0];
  let freed: () => void = () => undefined;
  const otherIsDone = new Promise<void>((resolve) => (freed = resolve));
  const worker = startWorker({
    run: async ({ id = '' }) => {
      if (!suspects.has(id)) {
        freed();
        return 'done';
      }
      running += 1;
      most = Math.max(most, running);
      await otherIsDone;
      await new Promise((resolve) => setTimeout(resolve, 50));
      running -= 1;
      return 'done';
    },
    giveUp: () => Promise.reject(new Error('not expected')),
  });
  await until(() => running === 1);
  await queue.add('embed', {}, { jobId: 'other' });
  await until(async () => (await queue.getJobCounts('completed'))['completed'] === 4);
  await worker.close(0);
  expect(most).toBe(1);
});
