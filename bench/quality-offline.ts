/**
 * Retrieval quality of the builtin embedder and the lexical ranker over the shared test collections, without a server:
 * `npx tsx bench/quality-offline.ts [collection…]`. Pages are how many of the nearest by vector the ranker gets as candidates.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createBuiltinEmbedder } from '../src/shared/adapters/builtin/embedder.js';
import { noStatistics, type TermStatistics } from '../src/shared/search/query-terms.js';
import { createLexicalRanker } from '../src/shared/search/ranking.js';
import { analyzeText } from '../src/shared/text/analyze-text.js';
import { packTerms } from '../src/shared/text/packed-terms.js';
import { chunkText } from '../src/workers/chunking/chunk.js';

const PAGES = [200, 400, 1000];
const CHUNKS = { size: 512, overlap: 64 };
const folder = join(process.env['QUIRE_SHARED'] ?? '../shared', 'data');
const embedder = createBuiltinEmbedder();
const ranker = createLexicalRanker();

interface Chunk {
  /** Of the document. */
  readonly id: string;
  readonly terms: Uint8Array;
  readonly vector: Float32Array;
}

interface Collection {
  readonly chunks: readonly Chunk[];
  readonly statistics: TermStatistics;
  readonly queries: readonly { readonly id: string; readonly text: string }[];
  readonly relevant: ReadonlyMap<string, ReadonlySet<string>>;
}

function readLines(path: string): Record<string, string>[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  // @NOTE the collections are ours and flat: a wrong field shows as a score of 0
  return lines.map((line) => JSON.parse(line) as Record<string, string>);
}

async function load(name: string): Promise<Collection> {
  const texts = readLines(join(folder, name, 'corpus.jsonl')).flatMap(({ id = '', title = '', text = '' }) =>
    chunkText(title === '' ? text : `${title}\n${text}`, CHUNKS).map((chunk) => ({ id, text: chunk.text })),
  );
  const { vectors } = await embedder.embedDocuments(texts.map(({ text }) => text));
  const frequencies = new Map<number, number>();
  let totalLength = 0;
  const chunks = texts.map(({ id, text }, index) => {
    const analyzed = analyzeText(text);
    totalLength += analyzed.length;
    for (const term of analyzed.counts.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
    return { id, terms: packTerms(analyzed), vector: vectors[index] ?? new Float32Array() };
  });
  const relevant = new Map<string, Set<string>>();
  for (const line of readFileSync(join(folder, name, 'qrels.tsv'), 'utf8')
    .trim()
    .split('\n')) {
    const [query = '', document = '', relevance] = line.split('\t');
    if (Number(relevance) > 0) relevant.set(query, (relevant.get(query) ?? new Set()).add(document));
  }
  const queries = readLines(join(folder, name, 'queries.jsonl'))
    .map(({ id = '', text = '' }) => ({ id, text }))
    .filter(({ id }) => relevant.has(id));
  return { chunks, statistics: { chunks: chunks.length, totalLength, frequencies }, queries, relevant };
}

function similarity(sparse: readonly (readonly [number, number])[], vector: Float32Array): number {
  return sparse.reduce((sum, [dimension, weight]) => sum + weight * (vector[dimension] ?? 0), 0);
}

interface Scored {
  readonly chunk: Chunk;
  readonly terms: Uint8Array;
  readonly similarity: number;
}

async function search({ chunks }: Collection, text: string, limit: number): Promise<Scored[]> {
  const { vectors } = await embedder.embedQuery(text);
  const sparse = Array.from(vectors[0] ?? [], (weight, dimension) => [dimension, weight] as const).filter(
    ([, weight]) => weight !== 0,
  );
  return chunks
    .map((chunk) => ({ chunk, terms: chunk.terms, similarity: similarity(sparse, chunk.vector) }))
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, limit);
}

/** Documents by their best chunk. */
function order(found: readonly Scored[], scores: Float64Array): string[] {
  const scored = found.map(({ chunk }, index) => ({ id: chunk.id, score: scores[index] ?? 0 }));
  const sorted = scored.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  return [...new Set(sorted.map(({ id }) => id))];
}

function gainAt10(ids: readonly string[], relevant: ReadonlySet<string>): number {
  const gain = (hits: readonly boolean[]) =>
    hits.reduce((sum, hit, rank) => (hit ? sum + 1 / Math.log2(rank + 2) : sum), 0);
  const ideal = gain(Array.from({ length: Math.min(10, relevant.size) }, () => true));
  return gain(ids.slice(0, 10).map((id) => relevant.has(id))) / ideal;
}

function recallAt(ids: readonly string[], relevant: ReadonlySet<string>, limit: number): number {
  return ids.slice(0, limit).filter((id) => relevant.has(id)).length / relevant.size;
}

async function measure(name: string): Promise<Record<string, number>> {
  const collection = await load(name);
  const sums: Record<string, number> = {};
  const add = (figure: string, value: number) => {
    sums[figure] = (sums[figure] ?? 0) + value / collection.queries.length;
  };
  for (const { id, text } of collection.queries) {
    const relevant = collection.relevant.get(id) ?? new Set();
    const all = await search(collection, text, collection.chunks.length);
    const best = order(all, ranker.rank(text, all, collection.statistics));
    for (const page of PAGES) {
      const found = all.slice(0, page);
      const ranked = order(found, ranker.rank(text, found, collection.statistics));
      add(`page ${String(page)}`, gainAt10(ranked, relevant));
      const candidates = new Set(ranked);
      add(
        `best 10 in ${String(page)}`,
        best.slice(0, 10).filter((document) => candidates.has(document)).length / 10,
      );
      if (page === 400) add('R@100', recallAt(ranked, relevant, 100));
    }
    add('everything', gainAt10(best, relevant));
    const found = all.slice(0, 400);
    add('background', gainAt10(order(found, ranker.rank(text, found, noStatistics)), relevant));
    add(
      'vectors',
      gainAt10(
        order(
          found,
          Float64Array.from(found, (one) => one.similarity),
        ),
        relevant,
      ),
    );
  }
  return Object.fromEntries(Object.entries(sums).map(([figure, sum]) => [figure, Number(sum.toFixed(4))]));
}

const named = process.argv.slice(2);
const names = named.length > 0 ? named : ['scifact', 'chroma-chunks', 'xquad-en', 'xquad-de', 'xquad-zh'];
if (!existsSync(folder)) {
  console.log(`skipped: no test collections at ${folder} (QUIRE_SHARED names their parent)`);
} else {
  console.log(
    'nDCG@10 by page, of ranking everything, with background statistics alone, of the vectors alone; recall',
  );
  const rows: Record<string, Record<string, number>> = {};
  for (const name of names) rows[name] = await measure(name);
  console.table(rows);
}
