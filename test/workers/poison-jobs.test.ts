import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Job, Queue } from 'bullmq';
import pino from 'pino';
import { UnavailableError } from '../../src/shared/errors.js';
import { openQueue } from '../../src/shared/queues/lanes.js';
import { jobMarks } from '../../src/shared/queues/job-kinds.js';
import { bullConnection } from '../../src/shared/redis/client.js';
import { queueKeys } from '../../src/shared/redis/keys.js';
import {
  createLaneWorker,
  createNoteWait,
  type JobHandler,
  type WorkerOptions,
} from '../../src/workers/lane-worker.js';
import { createPoisonJobs, DeadlyJobError } from '../../src/workers/poison-jobs.js';
import { until } from '../support/until.js';
import { useTestRedis } from '../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const connection = bullConnection(url, { failFast: false });
const logger = pino({ level: 'silent' });
const counting = { redis, logger };
const LANE = 'embedding';
let queue: Queue;

beforeEach(async () => {
  await redis.flushAll();
  queue = openQueue(LANE, connection);
});
afterEach(() => queue.close());

/** Adds a job that BullMQ has taken from dead workers before. */
async function addStalled(id: string): Promise<void> {
  await queue.pause();
  await queue.add('embed', { id }, { jobId: id });
  await redis.hSet(queueKeys.job(LANE, id), 'stc', '7');
  await queue.resume();
}

/** Adds one, and returns it as a worker takes it. */
async function takeStalled(id: string): Promise<Job> {
  await addStalled(id);
  const job: Job | undefined = await queue.getJob(id);
  if (!job) throw new Error('the job is missing');
  return job;
}

function startWorker(handler: JobHandler, onFinished?: WorkerOptions['onFinished']) {
  return createLaneWorker({
    queue: LANE,
    connection,
    concurrency: 8,
    lockMilliseconds: 10_000,
    handlers: { embed: handler },
    poisonJobs: createPoisonJobs(counting),
    noteWait: createNoteWait(redis),
    logger,
    ...(onFinished && { onFinished }),
  });
}

test('a job that workers gave back when they were stopped is not given up, however often that was', async () => {
  await addStalled('innocent');
  let runs = 0;
  let given = 0;
  const failJob = () => Promise.resolve((given += 1));
  for (let restarts = 1; restarts <= 4; restarts += 1) {
    const worker = startWorker({
      run: (_job, signal) =>
        new Promise((_, reject) => {
          runs += 1;
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        }),
      failJob,
    });
    await until(() => runs === restarts);
    await worker.close(0);
  }
  const worker = startWorker({ run: () => Promise.resolve('done'), failJob });
  await until(async () => (await queue.getJobCounts('completed'))['completed'] === 1);
  await worker.close(0);
  expect(given).toBe(0);
});

test('a job that was running alone at two deaths after its first is given up, and is not run', async () => {
  const job = await takeStalled('poison');
  const { signal } = new AbortController();
  for (let deaths = 1; deaths <= 2; deaths += 1)
    await new Promise<void>((started) => {
      // The worker dies: it neither ends the job nor takes another.
      void createPoisonJobs(counting).run(job, signal, () => new Promise(() => started()));
    });
  const reasons: string[] = [];
  let runs = 0;
  const worker = startWorker({
    run: () => Promise.resolve((runs += 1)).then(() => 'done'),
    failJob: (_job, reason) => Promise.resolve(reasons.push(reason)),
  });
  await until(async () => (await queue.getJobCounts('failed'))['failed'] === 1);
  await worker.close(0);
  expect([reasons, runs]).toEqual([['poison'], 0]);
});

test('a run that ends after another worker has taken its job does not clear the count of that one', async () => {
  const job = await takeStalled('poison');
  const { signal } = new AbortController();
  const start = () =>
    new Promise<{ wake: () => Promise<void> }>((resolve) => {
      const run = createPoisonJobs(counting).run(
        job,
        signal,
        () => new Promise<void>((end) => resolve({ wake: () => (end(), run) })),
      );
    });
  const frozen = await start();
  await start();
  await frozen.wake();
  const third = createPoisonJobs(counting).run(job, signal, () => Promise.resolve('run'));
  await expect(third).rejects.toThrow(DeadlyJobError);
});

test('a job that is put off while Redis is full is not given up, however often that is', async () => {
  await addStalled('innocent');
  let runs = 0;
  let given = 0;
  const reasons = new Set<string | null>();
  const worker = startWorker({
    run: async () => {
      runs += 1;
      if (runs > 4) return 'done';
      await redis.configSet('maxmemory', '1');
      throw new UnavailableError('redis', { retryAfterSeconds: 0.05 });
    },
    failJob: () => Promise.resolve((given += 1)),
  });
  try {
    for (let times = 1; times <= 4 && given === 0; times += 1) {
      await until(async () => given > 0 || (await queue.getJobCounts('delayed'))['delayed'] === 1);
      reasons.add(await redis.hGet(queueKeys.job(LANE, 'innocent'), jobMarks.waitsFor));
      // A full Redis lets nobody take the job again.
      await redis.configSet('maxmemory', '0');
      await until(() => given > 0 || runs > times);
    }
  } finally {
    await redis.configSet('maxmemory', '0');
    await worker.close(0);
  }
  expect([given, runs]).toEqual([0, 5]);
  // Operators see why it waited.
  expect([...reasons]).toEqual(['redis is unavailable']);
});

test('a job that is removed while it runs ends with its own result, and no count is left of it', async () => {
  await addStalled('removed');
  const outcomes: string[] = [];
  const worker = startWorker(
    {
      run: async () => {
        await redis.del(queueKeys.job(LANE, 'removed'));
        return 'done';
      },
      failJob: () => Promise.reject(new Error('not expected')),
    },
    ({ outcome }) => outcomes.push(outcome),
  );
  await until(() => outcomes.length > 0);
  await worker.close(0);
  expect([outcomes, await redis.exists(queueKeys.job(LANE, 'removed'))]).toEqual([['done'], 0]);
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
    failJob: () => Promise.reject(new Error('not expected')),
  });
  await until(() => running === 1);
  await queue.add('embed', {}, { jobId: 'other' });
  await until(async () => (await queue.getJobCounts('completed'))['completed'] === 4);
  await worker.close(0);
  expect(most).toBe(1);
});
