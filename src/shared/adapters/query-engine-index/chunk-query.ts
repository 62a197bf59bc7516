import type { CandidatePart, IndexSearch, WordSearch } from '../../ports.js';
import { termToken } from '../../term-tokens.js';
import { encodeVector, type VectorType } from '../../vectors.js';

/** Arguments of FT.SEARCH after the name of the index. */
export type ChunkQuery = readonly (string | Buffer)[];

const FIELDS = { similarity: 'distance', terms: 'terms' } as const satisfies Record<CandidatePart, string>;

/** Of a query: the engine reads some 50,000 a second, on the thread that serves everybody. */
const MOST_TOKENS = 4_000;

/**
 * How far a search of an HNSW graph looks: `graph` keeps so many candidates in view, `all` compares with every vector.
 * A FLAT index has no graph: the engine chooses how to read all.
 */
export type SearchEffort =
  { readonly type: 'flat' | 'all' } | { readonly type: 'graph'; readonly efRuntime: number };

function attributesOf(effort: SearchEffort): string {
  switch (effort.type) {
    case 'flat':
      return '';
    case 'all':
      return ' HYBRID_POLICY ADHOC_BF';
    case 'graph':
      return ` EF_RUNTIME ${String(effort.efRuntime)}`;
  }
}

export function nearestQuery(
  within: string,
  { vector, limit, reads = ['similarity', 'terms'] }: Pick<IndexSearch, 'vector' | 'limit' | 'reads'>,
  { vectorType, effort }: { readonly vectorType: VectorType; readonly effort: SearchEffort },
): ChunkQuery {
  const fields = reads.map((part) => FIELDS[part]);
  return [
    `(${within})=>[KNN ${String(limit)} @vector $vector${attributesOf(effort)} AS distance]`,
    ...['RETURN', String(fields.length), ...fields, 'SORTBY', 'distance', 'LIMIT', '0', String(limit)],
    ...['PARAMS', '2', 'vector', encodeVector(vector, vectorType)],
  ];
}

export function wordsQuery(
  within: string,
  { words, limit, vector }: Pick<WordSearch, 'words' | 'limit' | 'vector'>,
): ChunkQuery {
  const fields = ['terms', ...(vector ? ['vector'] : [])];
  return [
    holdingOneOf(Array.from(words.terms, termToken), within),
    ...['VERBATIM', 'SCORER', 'BM25STD', 'RETURN', String(fields.length), ...fields],
    ...['LIMIT', '0', String(limit)],
  ];
}

/**
 * What may be found, once for each word: where a union of words stands inside an intersection, the engine counts only
 * one of a chunk's words for its score (2.10 and 8.0). Where that would be too much to read, the same chunks by such
 * scores.
 */
function holdingOneOf(words: readonly string[], within: string): string {
  const tokens = words.length * within.split('|').length;
  return tokens > MOST_TOKENS
    ? `(${within})=>{$weight: 0} @words:(${words.join('|')})`
    : words.map((word) => `((${within})=>{$weight: 0} @words:${word})`).join('|');
}
