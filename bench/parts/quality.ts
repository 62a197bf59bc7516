import { startBenchService, type BenchService } from '../load/bench-service.js';
import { ingestBatches } from '../load/ingest-batches.js';
import { eachAtOnce, round } from '../support/client.js';
import { findCollections, loadCollection, type Collection } from '../support/collections.js';
import { createDocumentBm25 } from '../quality/document-bm25.js';
import { createQualitySums, isEnglish } from '../quality/quality-sums.js';
import { createDocumentSearch } from '../quality/search-documents.js';
import type { Measured } from './goals.js';

const DEPTH = 100;
const CLIENTS = 4;
/** Collections that the mean of the goal is of. */
const ENGLISH_OF_GOAL = 11;

/**
 * Retrieval quality of the default settings through the API, beside BM25 over whole documents with stemming, on all
 * collections that are found: nDCG@10 of /retrieve/chunks, documents by their best chunk, and recall@100 of /retrieve/docs.
 */
export async function measureQuality() {
  const names = findCollections();
  if (names.length === 0) return null;
  const service = await startBenchService();
  const rows = [];
  try {
    for (const name of names) {
      const collection = loadCollection(name);
      if (collection) rows.push(await measureCollection(service, collection));
    }
  } finally {
    await service.stop();
  }
  console.log(
    'quality of the default settings beside BM25 over whole documents. nDCG@10 is the mean over all orders of documents ' +
      'with equal scores, the range goes from the worst to the best of them.',
  );
  console.table(rows);
  return { figures: rows, measured: goalsOf(rows) };
}

type Row = Awaited<ReturnType<typeof measureCollection>>;

async function measureCollection(service: BenchService, collection: Collection) {
  const { name, documents, queries, relevant } = collection;
  const user = `quality-${name}`;
  const { ids } = await ingestBatches(service.target, documents, { user });
  const { search, close } = createDocumentSearch(service.target, { user, ids });
  const bm25 = createDocumentBm25(documents.map(({ text }) => text));
  const [ours, docs, reference] = [createQualitySums(), createQualitySums(), createQualitySums()];
  await eachAtOnce(queries, CLIENTS, async ({ id, text }) => {
    const wanted = relevant.get(id) ?? new Set();
    ours.add(await search({ path: '/retrieve/chunks', query: text }), wanted);
    docs.add(await search({ path: '/retrieve/docs', query: text }), wanted);
    const all = Array.from(bm25(text), (score, at) => ({ id: documents[at]?.id ?? '', score }));
    const found = all.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
    reference.add(found.slice(0, DEPTH), wanted);
  });
  close();
  const [own, own100, other] = [ours.means(), docs.means(), reference.means()];
  return {
    collection: name,
    english: isEnglish(collection),
    queries: queries.length,
    ndcg10: own.ndcg10,
    range: own.range,
    bm25Ndcg10: other.ndcg10,
    bm25Range: other.range,
    ndcgRatio: round(own.ndcg10 / other.ndcg10, 4),
    docsRecall100: own100.recall100,
    bm25Recall100: other.recall100,
    recallRatio: round(own100.recall100 / other.recall100, 4),
  };
}

function goalsOf(rows: readonly Row[]): Measured {
  const english = rows.filter((row) => row.english);
  const mean = english.reduce((sum, { ndcg10 }) => sum + ndcg10, 0) / english.length;
  const but = english.length === ENGLISH_OF_GOAL ? {} : { but: `of ${String(english.length)} collections` };
  return {
    gain: { value: Math.min(...rows.map(({ ndcgRatio }) => ndcgRatio)) },
    recall: { value: Math.min(...rows.map(({ recallRatio }) => recallRatio)) },
    'mean gain': { value: round(mean, 3), ...but },
  };
}
