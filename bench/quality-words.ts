/**
 * Retrieval quality of the lexical ranking, where every chunk is a candidate, beside BM25 over whole documents, without a
 * server: `npx tsx bench/quality-words.ts [collection…]`. Other collections than the shared ones lie in
 * `QUIRE_SHARED/data`, in the same form; a `filename` of a document there is the name of its file.
 */
import type { TermStatistics } from '../src/index/index.js';
import { searchedTerms } from '../src/shared/chunks/searched-text.js';
import { createLexicalRanker } from '../src/shared/search/ranking.js';
import { packedLength, packedTerms } from '../src/index/scoring/packed-terms.js';
import type * as source from '../src/workers/chunking/chunk.js';
import { rankCandidates } from '../test/support/rank-candidates.js';
import { round } from './support/client.js';
import { collectionsToMeasure, ndcgAt10, recallAt, type Collection } from './support/collections.js';
import { withSections } from './quality/sections.js';
import { createDocumentBm25 } from './quality/document-bm25.js';
import { importCompiled } from './support/import-compiled.js';

// @NOTE under its source's type: the tokens of the tokenizer are only beside the compiled file
const { chunkText } = (await importCompiled('workers/chunking/chunk.js')) as typeof source;

const CHUNKS = { size: 512, overlap: 64 };
const ranker = createLexicalRanker();

interface Ranked {
  readonly document: number;
  readonly score: number;
}

/** Ranks all documents by their best chunk. */
function createWordSearch({ documents }: Collection): (query: string) => Ranked[] {
  const frequencies = new Map<number, number>();
  let totalLength = 0;
  const chunks = documents.flatMap(({ text, filename = null }, document) => {
    const packed = chunkText(text, CHUNKS).map((chunk) => {
      const terms = searchedTerms(chunk, { title: null, filename });
      totalLength += packedLength(terms);
      for (const term of packedTerms(terms)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
      return terms;
    });
    return withSections(packed).map((chunk) => ({ ...chunk, document, similarity: 0 }));
  });
  const statistics: TermStatistics = { chunks: chunks.length, totalLength, frequencies };
  return (query) => {
    const best = new Float64Array(documents.length);
    rankCandidates(ranker, query, { candidates: chunks, statistics }).forEach((score, i) => {
      const document = chunks[i]?.document ?? NaN;
      best[document] = Math.max(best[document] ?? 0, score);
    });
    return Array.from(best, (score, document) => ({ document, score }));
  };
}

function measure(collection: Collection): Record<string, number> {
  const { documents, queries, relevant } = collection;
  const words = createWordSearch(collection);
  const bm25 = createDocumentBm25(documents.map(({ text }) => text));
  const sums = { ndcg: 0, bm25Ndcg: 0, recall: 0, bm25Recall: 0 };
  for (const { id, text } of queries) {
    const wanted = relevant.get(id) ?? new Set();
    const found = best100(collection, words(text));
    const reference = best100(
      collection,
      Array.from(bm25(text), (score, document) => ({ document, score })),
    );
    sums.ndcg += ndcgAt10(found, wanted);
    sums.bm25Ndcg += ndcgAt10(reference, wanted);
    sums.recall += recallAt(100, found, wanted);
    sums.bm25Recall += recallAt(100, reference, wanted);
  }
  const mean = (sum: number) => round(sum / queries.length, 4);
  return {
    documents: documents.length,
    queries: queries.length,
    'nDCG@10': mean(sums.ndcg),
    'BM25 nDCG@10': mean(sums.bm25Ndcg),
    'R@100': mean(sums.recall),
    'BM25 R@100': mean(sums.bm25Recall),
  };
}

function best100({ documents }: Collection, ranked: readonly Ranked[]): string[] {
  return ranked
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.document - b.document)
    .slice(0, 100)
    .map(({ document }) => documents[document]?.id ?? '');
}

const rows: Record<string, Record<string, number>> = {};
for (const collection of collectionsToMeasure()) rows[collection.name] = measure(collection);
console.table(rows);
