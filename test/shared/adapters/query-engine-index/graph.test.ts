import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readerTag } from '../../../../src/shared/access/access.js';
import { encodeVector, innerProduct } from '../../../../src/shared/data-set/stored-vectors.js';
import type { Index } from '../../../../src/shared/ports.js';
import { createRedis, type Redis } from '../../../../src/shared/redis/client.js';
import { keys } from '../../../../src/shared/redis/keys.js';
import { startQueryEngine } from '../../../support/query-engine-server.js';
import { describeWithQueryEngine, openQueryEngineIndex } from '../../../support/query-engine.js';
import type { TestRedis } from '../../../support/redis.js';
import { until } from '../../../support/until.js';

/** More than are compared one by one. */
const COUNT = 22_000;
const DIMENSIONS = 16;
const EF_RUNTIME = 40;
const TOLERANCE = 1e-6;
const GENERATION = '00000000-0000-4000-8000-000000000001.1.1';
const MINUTES = 60_000;

/** The same numbers in every run, from -0.5 to 0.5 (Park and Miller 1988). */
function createNumbers(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
}

function unitVector(next: () => number): Float32Array {
  const vector = Float32Array.from({ length: DIMENSIONS }, next);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

describeWithQueryEngine('an HNSW index of the Query Engine', (engine) => {
  let server: TestRedis;
  let redis: Redis;
  let index: Index;
  const next = createNumbers();
  const vectors = Array.from({ length: COUNT }, () => unitVector(next));
  const topic = unitVector(next);
  const similarity = vectors.map((vector) => innerProduct(topic, vector));
  const border = similarity.toSorted((a, b) => b - a)[COUNT / 4] ?? Number.NaN;
  const isOfTopic = (number: number) => (similarity[number] ?? 0) > border;
  const mayRead = { everybody: () => true, specialist: isOfTopic };
  const queries = Array.from({ length: 40 }, () => unitVector(next));

  beforeAll(async () => {
    server = await startQueryEngine(engine);
    redis = createRedis(server.url, { failFast: true, onError: () => undefined });
    await redis.connect();
    index = await openQueryEngineIndex(server.url, {
      dimensions: () => Promise.resolve(DIMENSIONS),
      algorithm: { name: 'hnsw', m: 8, efConstruction: 50 },
      efRuntime: EF_RUNTIME,
    });
    await until(async () => (await index.state()) === 'ready');
    await Promise.all(
      vectors.map((vector, number) =>
        redis.hSet(keys.chunk(GENERATION, number), {
          tags: [readerTag('everybody'), ...(isOfTopic(number) ? [readerTag('specialist')] : [])].join(','),
          generation: GENERATION,
          vector: encodeVector(vector, 'float32'),
        }),
      ),
    );
    await redis.configSet('slowlog-log-slower-than', '0');
  }, 5 * MINUTES);
  afterAll(async () => {
    await index.close();
    redis.destroy();
    await server.stop();
  });

  /** The share of the nearest that are found, over all queries. */
  const recallOf = async (callerId: keyof typeof mayRead, limit: number) => {
    let found = 0;
    for (const vector of queries) {
      const all = vectors.flatMap((each, number) =>
        mayRead[callerId](number) ? [innerProduct(vector, each)] : [],
      );
      const least = all.sort((a, b) => b - a)[limit - 1] ?? Number.NaN;
      const candidates = await index.vectors.search({
        vector,
        principal: { id: callerId },
        filter: null,
        limit,
      });
      found += candidates.filter(({ score }) => score >= least - TOLERANCE).length;
    }
    return found / (limit * queries.length);
  };

  const lastSearch = async () => {
    const log = await redis.sendCommand(['SLOWLOG', 'GET', '20']);
    return /\[KNN[^\]]*\]/u.exec(JSON.stringify(log))?.[0] ?? '';
  };

  test('finds all of the nearest for who may read those of one topic, though queries are of others', async () => {
    expect(await recallOf('specialist', 10)).toBe(1);
    expect(await lastSearch()).toContain('ADHOC_BF');
  });

  test.each([10, 100])('walks the graph for the nearest %d where most of it may be read', async (limit) => {
    // Fewer in view than are asked for would find fewer.
    expect(await recallOf('everybody', limit)).toBeGreaterThan(0.9);
    expect(await lastSearch()).toContain(
      `HYBRID_POLICY BATCHES EF_RUNTIME ${String(Math.max(EF_RUNTIME, limit))}`,
    );
  });
});
