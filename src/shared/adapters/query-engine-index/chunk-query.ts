import type { CandidatePart, IndexSearch, WordSearch } from '../../ports.js';
import { termToken } from '../../term-tokens.js';
import { encodeVector, type VectorType } from '../../vectors.js';

/** Arguments of FT.SEARCH after the name of the index. */
export type ChunkQuery = readonly (string | Buffer)[];

const FIELDS = { similarity: 'distance', terms: 'terms' } as const satisfies Record<CandidatePart, string>;

/** Of a query, all words together: the engine reads some 50,000 a second. */
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

/**
 * What may be found, once for each word: where a union of words stands inside an intersection, the engine counts only
 * one of a chunk's words for its score (2.10 and 8.0).
 */
export function wordsQuery(
  within: string,
  { terms, limit, vector }: Pick<WordSearch, 'terms' | 'limit' | 'vector'>,
): ChunkQuery {
  const tokens = within.split('|').length;
  const words = terms.slice(0, Math.max(1, Math.floor(MOST_TOKENS / tokens))).map(termToken);
  const fields = ['terms', ...(vector ? ['vector'] : [])];
  return [
    words.map((word) => `((${within})=>{$weight: 0} @words:${word})`).join('|'),
    ...['VERBATIM', 'SCORER', 'BM25STD', 'RETURN', String(fields.length), ...fields],
    ...['LIMIT', '0', String(limit)],
  ];
}
