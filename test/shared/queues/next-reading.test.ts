import { expect, test } from '@jest/globals';
import { ingestJob } from '../../../src/shared/queues/job-kinds.js';
import { makeContent, makeDocument } from '../../support/documents.js';
import { useJobs } from '../../support/use-jobs.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis, url } = useTestRedis();
const jobs = useJobs({ url, redis });

const fileOf = (caller: string) =>
  makeDocument({
    id: caller,
    ownerId: caller,
    pending: makeContent({ kind: 'file', contentType: 'application/pdf' }),
  });

test('a file that gave its parser away waits behind all files that nobody has begun, also behind those that came later', async () => {
  const bring = (caller: string) => jobs.addIngest(fileOf(caller), { requestId: caller });
  await bring('endless');
  for (let n = 0; n < 20; n += 1) await bring(`before ${String(n)}`);
  const priority = await jobs.nextReading('endless', 2);
  for (let n = 0; n < 20; n += 1) await bring(`after ${String(n)}`);
  const waiting = await jobs.queue('ingestion').getPrioritized();
  expect(waiting).toHaveLength(41);
  const others = waiting.filter(({ data }) => ingestJob.parse(data).documentId !== 'endless');
  expect(Math.max(...others.map((each) => each.priority))).toBeLessThan(priority);
});
