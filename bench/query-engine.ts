/**
 * Measures searches through the API with the Query Engine beside raw FT.SEARCH of the same queries on the same data:
 * `npm run bench:query-engine`, with the chunk counts to measure at as arguments (default 10000 100000);
 * `BENCH_ALGORITHM` is `hnsw` or `flat`, `BENCH_VECTOR_TYPE` `float32` or `float16`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createRedis } from '../src/shared/redis/client.js';
import { createLexicalRanker, createSemanticRanker, type Ranking } from '../src/shared/search/ranking.js';
import { findQueryEngine, startQueryEngine } from '../test/support/query-engine-server.js';
import { startService } from '../test/support/service.js';
import { alternate, throughput } from './support/alternate.js';
import { createBenchClient, round } from './support/client.js';
import { loadCollection } from './support/collections.js';
import { describeMachine } from './support/machine.js';
import { createRawSearch } from './support/raw-search.js';
import { measureRecall, readChunks } from './quality/recall.js';
import { createSeed } from './support/seed.js';
import { createTexts } from './support/texts.js';

const OWNER = 'load';
const ROUNDS = 300;
const CLIENTS = 32;
const SECONDS = 8;
/** Building an index anew takes as long as loading it. */
const MAX_REBUILT = 10_000;
/** Ranking all chunks for each query takes as many reads. */
const MAX_SCANNED = 100_000;
const RECALLED = 50;
const secret = 'a secret of the benchmark, long enough for HS256';
const sizes = process.argv.slice(2).map(Number);
const algorithm = process.env['BENCH_ALGORITHM'] ?? 'hnsw';
const vectorType = process.env['BENCH_VECTOR_TYPE'] === 'float16' ? 'float16' : 'float32';

const engine = findQueryEngine();
const collections = ['scifact', 'chroma-chunks'].flatMap((name) => loadCollection(name) ?? []);
if (!engine || collections.length === 0) {
  console.log('skipped: no Redis with the Query Engine, or no collections');
  process.exit(0);
}
console.table(describeMachine());
// In memory only: what is measured is the engine, and loading it.
const server = await startQueryEngine(engine, { server: ['--appendonly', 'no'] });
const service = await startService({
  redis: server,
  env: {
    JWT_SECRET_KEY: secret,
    QUIRE_LOG_LEVEL: 'warn',
    QUIRE_INDEX: 'query-engine',
    QUIRE_QUERY_ENGINE_ALGORITHM: algorithm,
    QUIRE_EMBEDDING_VECTOR_TYPE: vectorType,
  },
}).catch(async (error: unknown) => {
  await server.stop();
  throw error;
});
const redis = createRedis(server.url, { failFast: true, onError: console.error });
await redis.connect();
const bare = fork(new URL('./support/bare-server.ts', import.meta.url), { execArgv: process.execArgv });
const started: unknown = (await once(bare, 'message')).at(0);
const bareUrl = `http://127.0.0.1:${String(z.object({ port: z.number() }).parse(started).port)}`;

const queries = collections.flatMap((each) => each.queries).map(({ text }) => text);
const queryAt = (at: number) => queries[at % queries.length] ?? '';
const raw = await createRawSearch({
  redisUrl: server.url,
  owner: OWNER,
  connections: CLIENTS,
  algorithm,
  vectorType,
});
const overHttp = (url: string) => createBenchClient({ url, secret, user: OWNER });
const [api, bareApi] = [overHttp(service.url), overHttp(bareUrl)];
const ask = async (client: typeof api, query: string, ranking: Ranking) => {
  const { status, body } = await client.post('/retrieve/chunks', { query, k: 10, ranking });
  if (status !== 200) throw new Error(`answered ${String(status)}: ${body}`);
  return body;
};

try {
  const seed = createSeed(redis, {
    makeText: createTexts(collections),
    vectors: { field: 'vector', type: vectorType },
  });
  let chunks = 0;
  for (const size of sizes.length > 0 ? sizes : [10_000, 100_000]) {
    const before = await memory();
    const begun = performance.now();
    const added = size - chunks;
    await seed(OWNER, added);
    chunks = size;
    const chunksPerSecond = round(added / ((performance.now() - begun) / 1_000), 0);
    const bytesPerChunk = Math.round(((await memory()) - before) / added);
    console.table({ algorithm, vectorType, chunks, chunksPerSecond, bytesPerChunk });
    const figures = await measureRankings(size <= MAX_SCANNED);
    console.table(figures);
    const rebuildSeconds = size <= MAX_REBUILT ? await rebuild() : null;
    const about = { algorithm, vectorType, chunks, chunksPerSecond, bytesPerChunk, rebuildSeconds };
    console.log(JSON.stringify({ ...about, figures }));
  }
} finally {
  raw.close();
  redis.destroy();
  bare.disconnect();
  await service.stop();
  await server.stop();
}
process.exit(0);

/** Latencies in milliseconds, answers a second, recall@10; `isScanned`: whether all chunks are ranked to know it. */
async function measureRankings(isScanned: boolean) {
  const figures: Record<string, Record<string, number | null>> = {};
  const stored = isScanned ? await readChunks(redis, vectorType) : null;
  const rankers = { lexical: createLexicalRanker(), semantic: createSemanticRanker() };
  for (const ranking of ['lexical', 'semantic'] as const) {
    const send = await raw.prepare(ranking, queries);
    const latency = await alternate(ROUNDS, {
      raw: async (at) => send(0, at),
      api: (at) => ask(api, queryAt(at), ranking),
    });
    const rawPerSecond = await throughput(CLIENTS, SECONDS, async (client, at) => send(client, at));
    const barePerSecond = await throughput(CLIENTS, SECONDS, (_, at) => ask(bareApi, queryAt(at), ranking));
    const apiPerSecond = await throughput(CLIENTS, SECONDS, (_, at) => ask(api, queryAt(at), ranking));
    const recall =
      stored &&
      (await measureRecall(redis, {
        chunks: stored,
        queries: queries.slice(0, RECALLED),
        owner: OWNER,
        vectorType,
        ranker: rankers[ranking],
        ask: async (query) =>
          z
            .array(z.object({ score: z.number() }))
            .parse(JSON.parse(await ask(api, query, ranking)))
            .map(({ score }) => score),
      }));
    figures[ranking] = {
      rawP50: latency.raw.p50,
      apiP50: latency.api.p50,
      rawP95: latency.raw.p95,
      apiP95: latency.api.p95,
      rawPerSecond,
      barePerSecond,
      apiPerSecond,
      recall,
    };
  }
  return figures;
}

async function memory(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

/** Loses the index and waits until the service has it again: what a restart of Redis costs beside reading its data. */
async function rebuild(): Promise<number> {
  const begun = performance.now();
  await redis.ft.dropIndex(raw.index);
  const isReady = async () => (await fetch(`${service.url}/health/ready`)).ok;
  // The first search meets the loss.
  await ask(api, queryAt(0), 'semantic').catch(() => undefined);
  while (!(await isReady())) await sleep(100);
  return round((performance.now() - begun) / 1_000, 1);
}
