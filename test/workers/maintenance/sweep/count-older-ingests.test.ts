import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Transition } from '../../../../src/shared/documents/change.js';
import { countOlderIngests } from '../../../../src/workers/maintenance/sweep/abandoned-documents.js';
import { createRecords, type Records } from '../../../../src/shared/documents/records.js';
import * as transitions from '../../../../src/shared/documents/transitions.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { makeContent, makeDocument, makeOperation } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });
let records: Records;

beforeAll(() => {
  records = createRecords(redis);
});

const fenceOf = ({ id, version, attempt }: { id: string; version: number; attempt: number }) => ({
  documentId: id,
  version,
  attempt,
});

describe('ingests that are not finished are counted', () => {
  const recount = async () => {
    const found: Record<string, number> = {};
    for (const key of await redis.keys(`${keys.documentPrefix}*`)) {
      const record = await records.read(key.slice(keys.documentPrefix.length));
      if (record?.status !== 'queued' && record?.status !== 'processing') continue;
      const caller = record.operation?.userId ?? record.ownerId;
      found[caller] = (found[caller] ?? 0) + 1;
    }
    return found;
  };
  const counted = async () =>
    Object.fromEntries(
      (await redis.zRangeWithScores(keys.ingestsByCaller, 0, -1)).map(({ value, score }) => [value, score]),
    );

  test('by caller and in all, exactly, whatever becomes of them', async () => {
    const documents = Array.from({ length: 12 }, (_, i) =>
      makeDocument({ operation: makeOperation({ userId: `caller${String(i % 3)}` }) }),
    );
    await Promise.all(documents.map((document) => records.create(document)));
    const failure = { code: 'timeout', message: 'too slow', stage: 'parsing' } as const;
    const steps: Transition[] = [
      (each) => transitions.startAttempt(each, fenceOf(each)),
      (each) => transitions.publish(each, { ...fenceOf(each), chunkCount: 1, tokenCount: 1 }),
      (each) => transitions.fail(each, { ...fenceOf(each), failure }),
      transitions.requeue,
      transitions.cancel,
      transitions.remove,
      (each) => transitions.patch(each, { metadata: { a: 1 } }),
      (each) => transitions.retry(each, makeOperation({ userId: 'retrier' })),
      (each) => {
        const operation = makeOperation({ userId: 'writer' });
        return transitions.replaceContent(each, { content: makeContent(), operation });
      },
    ];
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 40; round += 1) {
      await Promise.all(
        documents.map(({ id }) => {
          const step = steps[random(steps.length)];
          return step ? records.update(id, step) : Promise.resolve();
        }),
      );
      expect(await counted()).toEqual(await recount());
      const all = Object.values(await recount()).reduce((sum, each) => sum + each, 0);
      expect(await redis.hLen(keys.ingests)).toBe(all);
    }
  });

  test('also those that an older version began', async () => {
    const document = makeDocument({ ownerId: 'older' });
    await records.create(document);
    await redis.hDel(keys.ingests, document.id);
    await redis.zRem(keys.ingestsByCaller, 'older');
    const done = makeDocument({ ownerId: 'older' });
    await records.create(done);
    await records.update(done.id, transitions.cancel);
    for (let times = 0; times < 2; times += 1)
      await countOlderIngests(redis, [document, { id: done.id, ownerId: 'older' }]);
    expect(await counted()).toMatchObject({ older: 1 });
    await records.update(document.id, transitions.cancel);
    expect(await counted()).toEqual(await recount());
  });
});
