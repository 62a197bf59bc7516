/**
 * The Query Engine and the exact index with vectors of a real model, without the service: `npm run bench:vectors`, with the
 * numbers of vectors as arguments (default 10000 100000). `QUIRE_BENCH_MODEL` names an embedding model in GGUF. `BENCH_GRAPHS`
 * names HNSW graphs by M and EF_CONSTRUCTION (default 16:200), `BENCH_EF` values of EF_RUNTIME, `BENCH_VECTOR_TYPES` types of
 * vectors.
 */
import type { VectorAlgorithm } from '../src/shared/adapters/query-engine-index/definition.js';
import { vectorTypeSchema } from '../src/shared/data-set/stored-vectors.js';
import { createRedis } from '../src/shared/redis/client.js';
import { findQueryEngine, startQueryEngine, type QueryEngine } from '../test/support/query-engine-server.js';
import { findLocalModel } from './quality/local-model.js';
import { findCollections, loadCollection } from './support/collections.js';
import { describeMachine } from './support/machine.js';
import { buildEngineIndex } from './vectors/engine-index.js';
import { openExactIndex } from './vectors/exact-index.js';
import { fill } from './vectors/fill.js';
import { measureExact, measureFlat, measureGraph, type Row } from './vectors/measure.js';
import { rowsOfReaders } from './vectors/readers.js';
import { makeRealVectors, type RealVectors } from './vectors/real-vectors.js';
import { findTruth } from './vectors/truth.js';

const listOf = (variable: string, standard: string) => (process.env[variable] ?? standard).split(',');
const graphs = listOf('BENCH_GRAPHS', '16:200').map((text) => {
  const [m = 16, efConstruction = 200] = text.split(':').map(Number);
  return { name: 'hnsw', m, efConstruction } as const;
});
const efRuntimes = listOf('BENCH_EF', '50,100,200,400,800').map(Number);
const types = listOf('BENCH_VECTOR_TYPES', 'float32,float16').map((type) => vectorTypeSchema.parse(type));
const named = process.argv.slice(2).map(Number);
const sizes = named.length > 0 ? named : [10_000, 100_000];

const model = findLocalModel();
const engine = findQueryEngine();
const collections = findCollections().flatMap((name) => loadCollection(name) ?? []);
if (typeof model === 'string') console.log(`skipped: ${model}`);
else if (!engine) console.log('skipped: no Redis with the Query Engine');
else if (collections.length > 0) {
  console.table(describeMachine());
  const real = await makeRealVectors(model, collections, Math.max(...sizes));
  const { sentences, passages, queries } = real;
  const { count, dimensions } = passages;
  console.table({ model: model.name, sentences, vectors: count, dimensions, queries: queries.length });
  for (const size of sizes) {
    if (size <= count) await measureSize(engine, real, size);
    else console.log(`skipped: ${String(size)} vectors, because there are ${String(count)} sentences`);
  }
}
process.exit(0);

async function measureSize(queryEngine: QueryEngine, { passages, queries }: RealVectors, count: number) {
  const readers = rowsOfReaders(passages, count);
  const of = { count, queries, truth: findTruth(passages, queries, readers) };
  // In memory only: what is measured is the engine.
  const server = await startQueryEngine(queryEngine, { server: ['--appendonly', 'no', '--save', ''] });
  const redis = createRedis(server.url, { failFast: true, onError: console.error });
  await redis.connect();
  try {
    await fill(redis, { vectors: passages, count, readers });
    for (const vectorType of types) {
      const exact = await openExactIndex(server.url, vectorType);
      const { readySeconds } = exact;
      report({ count, vectorType, index: 'exact', readySeconds }, await measureExact(exact, of));
      await exact.close();
      for (const algorithm of [{ name: 'flat' } as const, ...graphs]) {
        const { dimensions } = passages;
        const index = await buildEngineIndex(redis, { dimensions, vectorType, algorithm });
        const { buildSeconds, megabytes } = index;
        const rows = await (algorithm.name === 'flat'
          ? measureFlat(index, of)
          : measureGraph(index, { ...of, algorithm, efRuntimes }));
        report({ count, vectorType, index: titleOf(algorithm), buildSeconds, megabytes }, rows);
        await index.drop();
      }
    }
  } finally {
    redis.destroy();
    await server.stop();
  }
}

function titleOf(algorithm: VectorAlgorithm): string {
  if (algorithm.name === 'flat') return 'FLAT';
  return `HNSW ${String(algorithm.m)}:${String(algorithm.efConstruction)}`;
}

function report(about: Readonly<Record<string, unknown>>, rows: readonly Row[]): void {
  console.log(JSON.stringify({ ...about, rows }));
  console.log(about);
  console.table(rows);
}
