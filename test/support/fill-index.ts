import { randomUUID } from 'node:crypto';
import { documentTags } from '../../src/shared/documents/record-fields.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { makeContent, makeDocument } from './documents.js';

/** Puts many published documents of `owner` into Redis, each with chunks of random vectors, in one go. */
export async function fillIndex(
  url: string,
  { documents, chunksEach, dimensions }: { documents: number; chunksEach: number; dimensions: number },
): Promise<void> {
  const redis = createRedis(url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const records = createRecords(redis);
  const put = async (n: number) => {
    const id = randomUUID();
    const generation = `${id}.1.1`;
    const published = makeContent({ generation, chunkCount: chunksEach });
    const record = makeDocument({ id, published, pending: null, status: 'completed', metadata: { n } });
    await records.create(record);
    const tags = documentTags(record);
    const writes = Array.from({ length: chunksEach }, (_, number) => {
      const vector = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5);
      const fields = { document: id, generation, tags, terms: '', content: 'text' };
      return redis.hSet(keys.chunk(generation, number), { ...fields, vector: Buffer.from(vector.buffer) });
    });
    await Promise.all(writes);
  };
  for (let first = 0; first < documents; first += 100) {
    await Promise.all(Array.from({ length: Math.min(100, documents - first) }, (_, i) => put(first + i)));
  }
  redis.destroy();
}
