import { beforeEach, expect, test } from '@jest/globals';
import { createUsage } from '../../../../src/shared/usage/usage.js';
import { dying, forgetful, ProcessDied } from '../../../support/dying.js';
import { isAtRest, statisticsDifferences } from '../../../support/recount-statistics.js';
import { birds, idsOf, LIMITS, textGroups } from '../../../support/text-groups.js';
import { useJobs } from '../../../support/use-jobs.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { url, redis } = useTestRedis({ failFast: false });
const { store, run, expectPublished } = textGroups({ redis, jobs: useJobs({ url, redis }) });

beforeEach(async () => {
  await redis.flushAll();
});

test('a run beside its twin counts nothing twice', async () => {
  const texts = birds(9);
  const documents = await store(texts);
  let twin: Promise<unknown> | null = null;
  const meanwhile = () => (twin ??= run(idsOf(documents)));
  expect(await run(idsOf(documents), { meanwhile })).toBe('stale');
  await expectPublished(documents, texts);
  expect(await createUsage(redis).stats('owner')).toEqual({ ingest_text: 9 });
});

test('a worker that dies at any of its steps leaves each document whole or as it was', async () => {
  const texts = birds(10);
  for (let death = 1; death <= 12; death += 1) {
    await redis.flushAll();
    const documents = await store(texts);
    let scripts = 0;
    // The first of two is sent again to a server that does not know the script yet.
    const seen = dying(redis, () => (scripts += 1) === death);
    const limits = { ...LIMITS, chunks: 3 };
    await run(idsOf(documents), { seen, limits }).catch((error: unknown) => {
      if (!(error instanceof ProcessDied)) throw error;
    });
    expect(await statisticsDifferences(redis)).toEqual([]);
    await run(idsOf(documents), { limits });
    await expectPublished(documents, texts);
    expect(await isAtRest(redis)).toBe(true);
    expect(await createUsage(redis).stats('owner')).toEqual({ ingest_text: 10 });
  }
});

test('nothing is missing or counted twice, whatever Redis loses meanwhile', async () => {
  const texts = birds(10);
  for (let to = 2; to <= 7; to += 1) {
    await redis.flushAll();
    const documents = await store(texts);
    const limits = { ...LIMITS, chunks: 3 };
    await run(idsOf(documents), { seen: forgetful(redis, { from: to - 1, to }), limits });
    await run(idsOf(documents), { limits });
    await expectPublished(documents, texts);
    expect(await isAtRest(redis)).toBe(true);
  }
});
