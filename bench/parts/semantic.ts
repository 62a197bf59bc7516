import { RANKINGS, type Ranking } from '../../src/shared/search/ranking.js';
import { findQueryEngine, startQueryEngine } from '../../test/support/query-engine-server.js';
import { startTestRedis, type TestRedis } from '../../test/support/redis.js';
import { startBenchService, type BenchService } from '../load/bench-service.js';
import { ingestCollection } from '../load/ingest-collection.js';
import { createQualitySums } from '../quality/quality-sums.js';
import { createDocumentSearch } from '../quality/search-documents.js';
import {
  findLocalModel,
  findRankingModel,
  rerankingBy,
  startLocalModel,
  type LocalModel,
} from '../quality/local-model.js';
import { eachAtOnce, round } from '../support/client.js';
import { findCollections, loadCollection, type Collection } from '../support/collections.js';
import type { Measured } from './goals.js';

/** A local model makes the vectors of one text after the other: more would wait for it. */
const CLIENTS = 4;

type Row = Awaited<ReturnType<typeof measureAlone>>;

/**
 * Retrieval quality of each ranking with a real embedding model, which runs in the service, through the API, on all
 * collections and engines that are found, and with a ranking model of the best of `hybrid` reranked. Without a model it is
 * skipped.
 */
export async function measureSemantic() {
  const model = findLocalModel();
  if (typeof model === 'string') {
    console.log(`skipped: ${model}`);
    return null;
  }
  const rankingModel = findRankingModel(model);
  if (typeof rankingModel === 'string') console.log(`skipped: reranking; ${rankingModel}`);
  const reranker = typeof rankingModel === 'string' ? null : rankingModel;
  const collections = findCollections().flatMap((name) => loadCollection(name) ?? []);
  const rows: Row[] = [];
  const { settings: embedding, stop } = await startLocalModel(model);
  const settings = { ...embedding, ...(reranker && rerankingBy(reranker)) };
  try {
    for (const engine of enginesFound())
      for (const collection of collections)
        rows.push(await measureAlone(engine, collection, { settings, isReranked: reranker !== null }));
  } finally {
    await stop();
  }
  console.log(
    `nDCG@10 of /retrieve/chunks with ${model.name}, documents by their best chunk; gain: hybrid beside the better of the other two; reranked: the best 50 of hybrid`,
  );
  console.table(rows);
  return {
    figures: { model: model.name, reranker: reranker?.name ?? null, rows },
    measured: goalsOf(rows, model),
  };
}

interface Engine {
  readonly engine: string;
  readonly start: () => Promise<TestRedis>;
}

function enginesFound(): Engine[] {
  const engines: Engine[] = [{ engine: 'exact', start: () => startTestRedis() }];
  const queryEngine = findQueryEngine();
  if (queryEngine) engines.push({ engine: 'query-engine', start: () => startQueryEngine(queryEngine) });
  else console.log('skipped: the Query Engine, which is not found');
  return engines;
}

/** On a Redis with nothing else in it. */
async function measureAlone(
  { engine, start }: Engine,
  collection: Collection,
  {
    settings,
    isReranked,
  }: { readonly settings: Readonly<Record<string, string>>; readonly isReranked: boolean },
) {
  const service = await startBenchService({ ...settings, QUIRE_INDEX: engine }, start);
  try {
    return { engine, ...(await measureCollection(service, collection, isReranked)) };
  } finally {
    await service.stop();
  }
}

async function measureCollection({ target }: BenchService, collection: Collection, isReranked: boolean) {
  const { name, queries, relevant } = collection;
  const user = `semantic-${name}`;
  const { ids, figures } = await ingestCollection(target, collection, { user, clients: CLIENTS });
  const { search, close } = createDocumentSearch(target, { user, ids });
  const ndcgOf = async (ranking: Ranking, reranking = false) => {
    const sums = createQualitySums();
    await eachAtOnce(queries, CLIENTS, async ({ id, text }) => {
      const found = await search({ path: '/retrieve/chunks', query: text, ranking, isReranked: reranking });
      sums.add(found, relevant.get(id) ?? new Set());
    });
    return sums.means().ndcg10;
  };
  const ndcg10 = { semantic: 0, lexical: 0, hybrid: 0 } satisfies Record<Ranking, number>;
  for (const ranking of RANKINGS) ndcg10[ranking] = await ndcgOf(ranking);
  const reranked = isReranked ? await ndcgOf('hybrid', true) : null;
  close();
  const gain = round(ndcg10.hybrid - Math.max(ndcg10.semantic, ndcg10.lexical), 4);
  return {
    collection: name,
    queries: queries.length,
    ...ndcg10,
    gain,
    reranked,
    documentsPerSecond: figures.documentsPerSecond,
  };
}

function goalsOf(rows: readonly Row[], { name }: LocalModel): Measured {
  const scifact = rows.filter(({ collection }) => collection === 'scifact').map(({ semantic }) => semantic);
  const ratios = rows.map(({ hybrid, semantic, lexical }) => hybrid / Math.max(semantic, lexical));
  const other = /all-minilm-l6-v2/i.test(name) ? {} : { but: `with ${name}` };
  return {
    ...(scifact.length > 0 && { 'semantic on SciFact': { value: Math.min(...scifact), ...other } }),
    'hybrid gain': { value: round(rows.reduce((sum, { gain }) => sum + gain, 0) / rows.length, 4), ...other },
    'hybrid ratio': { value: round(Math.min(...ratios), 4), ...other },
  };
}
