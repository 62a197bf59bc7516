import type { CandidatePart, IndexSearch, WordSearch } from '../../ports.js';
import { termToken } from '../../term-tokens.js';
import { encodeVector, type VectorType } from '../../vectors.js';

/** Arguments of FT.SEARCH after the name of the index. */
export type ChunkQuery = readonly (string | Buffer)[];

const FIELDS = { similarity: 'distance', terms: 'terms' } as const satisfies Record<CandidatePart, string>;

/** Of a query: the engine reads some 50,000 a second, on the thread that serves everybody. */
const MOST_TOKENS = 4_000;

export function nearestQuery(
  within: string,
  { vector, limit, reads = ['similarity', 'terms'] }: Pick<IndexSearch, 'vector' | 'limit' | 'reads'>,
  { vectorType, efRuntime }: { readonly vectorType: VectorType; readonly efRuntime: number | null },
): ChunkQuery {
  const effort = efRuntime === null ? '' : ` EF_RUNTIME ${String(efRuntime)}`;
  const fields = reads.map((part) => FIELDS[part]);
  return [
    `(${within})=>[KNN ${String(limit)} @vector $vector${effort} AS distance]`,
    ...['RETURN', String(fields.length), ...fields, 'SORTBY', 'distance', 'LIMIT', '0', String(limit)],
    ...['PARAMS', '2', 'vector', encodeVector(vector, vectorType)],
  ];
}

export function wordsQuery(
  within: string,
  { terms, limit, vector }: Pick<WordSearch, 'terms' | 'limit' | 'vector'>,
): ChunkQuery {
  const fields = ['terms', ...(vector ? ['vector'] : [])];
  return [
    holdingOneOf(terms.map(termToken), within),
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
