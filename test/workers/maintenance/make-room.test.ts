import { expect, test } from '@jest/globals';
import pino from 'pino';
import type { DocumentRecord } from '../../../src/shared/document.js';
import { createRecords } from '../../../src/shared/documents/records.js';
import { startAttempt } from '../../../src/shared/documents/transitions.js';
import { keys } from '../../../src/shared/redis/keys.js';
import { makeRoom } from '../../../src/workers/maintenance/make-room.js';
import { makeDocument } from '../../support/documents.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
const records = createRecords(redis);

async function create(count: number, isBegun: boolean): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const record: DocumentRecord = makeDocument();
    await records.create(record);
    const fence = { documentId: record.id, version: 1, attempt: 1 };
    if (isBegun) await records.update(record.id, (each) => startAttempt(each, fence));
    ids.push(record.id);
  }
  return ids;
}

test('documents that have begun give back although nothing is known of what they reserved, however many wait', async () => {
  const begun = await create(120, true);
  await create(200, false);
  const cleaned: string[] = [];
  const begunAgain: string[] = [];
  const parts = {
    redis,
    records,
    jobs: {
      addIngest: ({ id }: { readonly id: string }) => Promise.resolve(void begunAgain.push(id)),
      addCleans: (generations: readonly string[]) => Promise.resolve(void cleaned.push(...generations)),
    },
    metrics: { add: () => undefined },
    logger: pino({ level: 'silent' }),
  };
  for (let round = 0; round < 4; round += 1) {
    await makeRoom(parts);
    await redis.del(keys.roomPause);
  }
  const states = await records.readStates(begun);
  expect(new Set(states.map((state) => state?.status))).toEqual(new Set(['queued']));
  expect(cleaned).toHaveLength(begun.length);
  expect([...begunAgain].sort()).toEqual([...begun].sort());
});
