/**
 * Retrieval quality of each ranking on each engine that is found, with the builtin embedder, without a filter and with one
 * that lets everything through: `npx tsx bench/rankings.ts [collection…]`, after a build. Prints tables as it goes.
 */
import { RANKINGS, type Ranking } from '../src/shared/search/ranking.js';
import { findQueryEngine, startQueryEngine } from '../test/support/query-engine-server.js';
import { startTestRedis, type TestRedis } from '../test/support/redis.js';
import { startService } from '../test/support/service.js';
import { createBenchClient, eachAtOnce, round } from './support/client.js';
import { collectionsToMeasure, ndcgAt10, recallAt, type Collection } from './support/collections.js';
import { ingestCollection } from './load/ingest-collection.js';

const secret = 'a secret of the benchmark, long enough for HS256';

interface Target {
  readonly url: string;
  readonly secret: string;
}
type Figures = Awaited<ReturnType<typeof measureQuality>> & {
  readonly engine: string;
  readonly collection: string;
};

/** Lets everything through: only to see that what is found is the same as without one. */
const EVERYTHING = {
  $and: [{ created_at: { $gt: '2000-01-01' } }, { $not: { filename: 'no such file' } }],
};
const FILTERS = { none: null, everything: EVERYTHING };
type FilterName = keyof typeof FILTERS;

const collections = [...collectionsToMeasure()];
const queryEngine = findQueryEngine();
if (!queryEngine) console.log('skipped: quality on the Query Engine, which is not found');
const servers: { readonly engine: string; readonly start: () => Promise<TestRedis> }[] = [
  { engine: 'exact', start: () => startTestRedis() },
];
if (queryEngine) servers.push({ engine: 'query-engine', start: () => startQueryEngine(queryEngine) });
const all: Figures[] = [];
for (const { engine, start } of servers) {
  const redis = await start();
  try {
    all.push(...(await measureEngine(engine, redis)));
  } finally {
    await redis.stop();
  }
}
console.table(gainTable(all));
console.log(
  'nDCG@10 by ranking. The vectors of the builtin embedder hold words only, which fusing them with BM25 counts twice: ' +
    'this says nothing about `semantic` and `hybrid` with an embedding model, which the benchmark does not run.',
);

async function measureEngine(engine: string, redis: TestRedis): Promise<Figures[]> {
  const service = await startService({
    redis,
    workers: ['ingestion', 'embedding,cache,usage,maintenance'],
    env: {
      JWT_SECRET_KEY: secret,
      QUIRE_LOG_LEVEL: 'warn',
      QUIRE_INDEX: engine,
      QUIRE_WORKERS_LOCK_SECONDS: '30',
    },
  });
  const target = { url: service.url, secret };
  const figures: Figures[] = [];
  try {
    for (const collection of collections) {
      const user = `quality-${collection.name}`;
      const { ids } = await ingestCollection(target, collection, { user });
      for (const ranking of RANKINGS) {
        for (const filter of ['none', 'everything'] as const) {
          const measured = await measureQuality(target, collection, { user, ids, ranking, filter });
          figures.push({ engine, collection: collection.name, ...measured });
        }
      }
    }
  } finally {
    await service.stop();
  }
  console.table(figures);
  return figures;
}

/** Over /retrieve/chunks: 100 chunks a query, documents ranked by their best chunk. */
async function measureQuality(
  target: Target,
  { queries, relevant }: Collection,
  asked: { user: string; ids: ReadonlyMap<string, string>; ranking: Ranking; filter: FilterName },
) {
  const { user, ids, ranking, filter } = asked;
  const filters = FILTERS[filter];
  const client = createBenchClient({ ...target, user });
  const sums = { ndcg: 0, recall10: 0, recall100: 0, bestScore: 0 };
  await eachAtOnce(queries, 4, async ({ id, text }) => {
    const { status, body } = await client.post('/retrieve/chunks', { query: text, k: 100, ranking, filters });
    if (status !== 200) throw new Error(`search answered ${String(status)}: ${body}`);
    // @NOTE the service's own answer, which its tests hold against its schema
    const hits = JSON.parse(body) as { document_id: string; score: number }[];
    const ranked = [...new Set(hits.map((hit) => ids.get(hit.document_id) ?? 'stranger'))];
    const wanted = relevant.get(id) ?? new Set();
    sums.ndcg += ndcgAt10(ranked, wanted);
    sums.recall10 += recallAt(10, ranked, wanted);
    sums.recall100 += recallAt(100, ranked, wanted);
    sums.bestScore += hits[0]?.score ?? 0;
  });
  client.close();
  const mean = (sum: number) => round(sum / queries.length, 4);
  return {
    ranking,
    filter,
    queries: queries.length,
    ndcg10: mean(sums.ndcg),
    recall10: mean(sums.recall10),
    recall100: mean(sums.recall100),
    /** Mean score of the best hit: tells what a `min_score` may ask for. */
    bestScore: mean(sums.bestScore),
  };
}

/** A row for each collection, engine and filter, a column for each ranking. */
function gainTable(figures: readonly Figures[]): Record<string, Record<string, number>> {
  const rows: Record<string, Record<string, number>> = {};
  for (const { engine, collection, filter, ranking, ndcg10 } of figures)
    (rows[`${collection}, ${engine}, filter: ${filter}`] ??= {})[ranking] = ndcg10;
  return rows;
}
