import { batchCount, batchNumbers } from '../shared/batches.js';
import { createChunks } from '../shared/chunks/chunks.js';
import type { Records } from '../shared/documents/records.js';
import type { Redis } from '../shared/redis/client.js';
import { keys } from '../shared/redis/keys.js';

/**
 * Removes vectors that are no longer used from the published chunks; workers unlink discarded chunks. An interrupted run
 * begins again, because the name of the field stays until all its vectors are removed.
 */
export async function removeGarbageVectors(
  redis: Redis,
  records: Pick<Records, 'readMany'>,
  signal: AbortSignal,
): Promise<void> {
  for (const field of await redis.sMembers(keys.garbageVectors)) {
    const chunks = createChunks(redis, { field, type: 'float32' });
    for await (const entries of redis.zScanIterator(keys.changes, { COUNT: 100 })) {
      for (const { value: id } of entries) {
        signal.throwIfAborted();
        const [record] = await records.readMany([id]);
        const { generation = null, chunkCount = 0 } = record?.published ?? {};
        if (generation === null) continue;
        for (let batch = 0; batch < batchCount(chunkCount); batch += 1) {
          await chunks.removeVectors(generation, batchNumbers(batch, chunkCount));
        }
      }
    }
    await redis.sRem(keys.garbageVectors, field);
  }
}
