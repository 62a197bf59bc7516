import { describe, test } from '@jest/globals';
import { createQueryEngineIndex } from '../../src/shared/adapters/query-engine-index/query-engine-index.js';
import { createRecords } from '../../src/shared/documents/records.js';
import type { Index } from '../../src/shared/ports.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { findQueryEngine, type QueryEngine } from './query-engine-server.js';

const REASON =
  'no Redis with the Query Engine found (QUIRE_TEST_QUERY_ENGINE, or redisearch.so at the usual places)';

/** Tests that need a Query Engine: skipped, saying so, where there is none. */
export function describeWithQueryEngine(name: string, tests: (engine: QueryEngine) => void): void {
  const engine = findQueryEngine();
  if (engine !== null) {
    describe(name, () => {
      tests(engine);
    });
    return;
  }
  process.stderr.write(`skipped: ${name}: ${REASON}\n`);
  describe.skip(name, () => {
    test(REASON, () => undefined);
  });
}

export type QueryEngineTestOptions = Partial<Parameters<typeof createQueryEngineIndex>[0]>;

/** The adapter over four dimensions of a model `test`, unless told otherwise. */
export async function openQueryEngineIndex(
  redisUrl: string,
  options: QueryEngineTestOptions = {},
): Promise<Index> {
  const redis = createRedis(redisUrl, { failFast: true, onError: () => undefined });
  await redis.connect();
  const records = createRecords(redis);
  const index = await createQueryEngineIndex({
    redisUrl,
    model: 'test',
    vectors: { field: 'vector', type: 'float32' },
    algorithm: { name: 'flat' },
    dimensions: () => Promise.resolve(4),
    efRuntime: 100,
    timeoutMilliseconds: 5_000,
    claim: () => Promise.resolve(),
    readStatistics: createTermStatistics(redis).read,
    readRecords: (ids) => records.readSome(ids, 2 ** 20),
    ...options,
  });
  const close = async () => {
    await index.close();
    redis.destroy();
  };
  return { ...index, close };
}
