import type { Job } from 'bullmq';
import { beforeEach, expect, test } from '@jest/globals';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { GaveWayError } from '../../../src/shared/fair-scheduling/giving-way.js';
import { createSlowFiles } from '../../../src/workers/queues/slow-files.js';
import { TurnOverError, NotYetError } from '../../../src/workers/job-turn.js';
import { makeContent } from '../../support/documents.js';
import { queueKeys } from '../../../src/shared/redis/keys.js';
import { rejection } from '../../support/rejection.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const { signal } = new AbortController();
beforeEach(() => redis.flushAll());

/** Documents are called after their callers. */
const ownedById = (id: string): Partial<DocumentRecord> => ({ ownerId: id });

function start(recordOf = ownedById) {
  const turns: [by: string, seconds: number][] = [];
  const files = createSlowFiles({
    redis,
    // @NOTE nothing else of a record is read
    records: { read: (id) => Promise.resolve(recordOf(id) as DocumentRecord) },
    jobs: {
      nextReading: (by, seconds) => {
        turns.push([by, seconds]);
        return Promise.resolve(7);
      },
    },
    parsers: 2,
    concurrency: 8,
  });
  return { files, turns };
}

const jobOf = (documentId: string, id = documentId) =>
  // @NOTE nothing else of a job is read
  ({
    id,
    queueName: 'ingestion',
    data: { documentId, version: 1, attempt: 1, requestId: 'r' },
  }) as unknown as Job;

test('a caller has two files for each parser in hand, and places stay free for those who come later', async () => {
  const { files } = start();
  expect(files.concurrency).toBe(6);
  const ends: (() => void)[] = [];
  const read = () => new Promise<'done'>((resolve) => ends.push(() => resolve('done')));
  const own = Array.from({ length: 5 }, (_, n) => files.run(jobOf('heavy', String(n)), signal, read));
  const light = files.run(jobOf('light'), signal, read);
  expect(await rejection(own[4] ?? light)).toBeInstanceOf(NotYetError);
  expect(ends).toHaveLength(5);
  for (const end of ends) end();
  expect(await Promise.all([...own.slice(0, 4), light])).toEqual(Array(5).fill('done'));
});

test('a file that has a parser for the first time gives it to another after two seconds, then after five, then after twice as long each time, in whichever worker, in a turn that costs what it took', async () => {
  await redis.hSet(queueKeys.job('ingestion', 'heavy'), 'name', 'ingest');
  const after: number[] = [];
  const costs: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    // A worker that has never seen the job takes it each time.
    const { files, turns } = start();
    const run = files.run(jobOf('heavy'), signal, ({ givesWayAfter }) => {
      after.push(givesWayAfter);
      return Promise.reject(new GaveWayError());
    });
    expect(await rejection(run)).toBeInstanceOf(TurnOverError);
    expect(await files.nextTurn(jobOf('heavy'))).toBe(7);
    costs.push(...turns);
  }
  expect(after).toEqual([2_000, 5_000, 10_000]);
  expect(costs).toEqual([
    ['heavy', 2],
    ['heavy', 5],
    ['heavy', 10],
  ]);
});

test('what is counted of a job goes with it', async () => {
  const { files } = start();
  const run = files.run(jobOf('gone'), signal, () => Promise.reject(new GaveWayError()));
  expect(await rejection(run)).toBeInstanceOf(TurnOverError);
  expect(await redis.exists(queueKeys.job('ingestion', 'gone'))).toBe(0);
});

test('a file that is read once more for its attachments has its turn, that of who brought it', async () => {
  const carried = { ids: ['a'], waiting: ['a'], missed: [], callerId: 'heavy' };
  const published = makeContent({ carried });
  const { files } = start((id) =>
    id === 'light' ? { ownerId: id } : { ownerId: 'victim', operation: null, published },
  );
  const jobOfAttachments = (id: string) =>
    // @NOTE nothing else of a job is read
    ({ id, queueName: 'ingestion', data: { documentId: id, requestId: 'r' } }) as unknown as Job;
  const ends: (() => void)[] = [];
  const read = () => new Promise<'done'>((resolve) => ends.push(() => resolve('done')));
  const own = Array.from({ length: 5 }, (_, n) => files.run(jobOfAttachments(String(n)), signal, read));
  const light = files.run(jobOf('light'), signal, read);
  expect(await rejection(own[4] ?? light)).toBeInstanceOf(NotYetError);
  for (const end of ends) end();
  expect(await light).toBe('done');
});
