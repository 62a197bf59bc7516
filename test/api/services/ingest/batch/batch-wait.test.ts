import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { openWait, settleAll } from '../../../../../src/api/services/ingest/batch/batch-wait.js';
import { createChangeWaiter } from '../../../../../src/api/services/ingest/waits.js';
import { createRecords } from '../../../../../src/shared/documents/records.js';
import { useTestRedis } from '../../../../support/use-test-redis.js';

const { redis } = useTestRedis();

test('what is awaited of a batch takes memory for each item, and nothing listens once all are settled', async () => {
  const waiter = await createChangeWaiter(redis, () => undefined);
  try {
    const { signal } = new AbortController();
    const parts = {
      records: createRecords(redis),
      waiter,
      logger: pino({ level: 'silent' }),
      waitSeconds: 30,
    };
    const settle = async (ids: readonly string[]) => {
      const wait = openWait(parts, { waitSeconds: null, signal });
      wait.addKnown(ids);
      const items = ids.map((documentId, index) => ({ index, documentId, status: 'queued' as const }));
      const { heldBytes, settled } = settleAll(parts, wait, { callerId: 'alice', items });
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      expect(await settled).toHaveLength(ids.length);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
      return heldBytes;
    };
    const one = await settle(['deleted']);
    expect(one).toBeGreaterThan(100);
    expect(await settle(['deleted', 'gone', 'removed'])).toBe(3 * one);
  } finally {
    waiter.close();
  }
});
