import type { TermWeights } from '../../../index/index.js';
import { encodeVector, type VectorType } from '../../data-set/stored-vectors.js';
import type { VectorSearch } from '../../ports.js';
import { termToken } from '../../text/term-tokens.js';
import type { SearchEffort } from './effort.js';

/** Arguments of FT.SEARCH after the name of the index. */
export type ChunkQuery = readonly (string | Buffer)[];

/** A query may have this many tokens: the engine reads some 50,000 a second, on the thread that serves everybody. */
const MAX_TOKENS = 4_000;

function attributesOf(effort: SearchEffort): string {
  switch (effort.type) {
    case 'flat':
      return '';
    case 'all':
      return ' HYBRID_POLICY ADHOC_BF';
    case 'graph':
      return ` HYBRID_POLICY BATCHES EF_RUNTIME ${String(effort.inView)}`;
  }
}

export function nearestQuery(
  within: string,
  { vector, limit }: Pick<VectorSearch, 'vector' | 'limit'>,
  { vectorType, effort }: { readonly vectorType: VectorType; readonly effort: SearchEffort },
): ChunkQuery {
  return [
    `(${within})=>[KNN ${String(limit)} @vector $vector${attributesOf(effort)} AS distance]`,
    'RETURN',
    '1',
    'distance',
    'SORTBY',
    'distance',
    'LIMIT',
    '0',
    String(limit),
    'PARAMS',
    '2',
    'vector',
    encodeVector(vector, vectorType),
  ];
}

export function termsQuery(
  within: string,
  { terms, limit }: { readonly terms: TermWeights; readonly limit: number },
): ChunkQuery {
  return [
    holdingOneOf(Array.from(terms.terms, termToken), within),
    'VERBATIM',
    'SCORER',
    'BM25STD',
    'WITHSCORES',
    'RETURN',
    '1',
    'terms',
    'LIMIT',
    '0',
    String(limit),
  ];
}

/** Lets every chunk through. */
export const ALL = '*';

/** Asks for no chunks, only for their number. */
export function countQuery(within: string): ChunkQuery {
  return [within, 'LIMIT', '0', '0'];
}

/** Asks for any chunks. */
export function anyQuery(within: string, limit: number): ChunkQuery {
  return [within, 'RETURN', '1', 'terms', 'LIMIT', '0', String(limit)];
}

/**
 * Versions 2.10 and 8.0 of the engine forget all but one of a chunk's terms in a small union that stands in an intersection,
 * when the other side of the intersection has skipped chunks. The same happens where few terms of the union are in any
 * chunk. A union of more than this many terms is kept as a heap, which has no such fault.
 */
const HEAP_SIZE = 21;

/**
 * Asks for chunks with at least one of the terms. The condition is repeated for each term, so that the engine forgets none of
 * a chunk's terms in its score. Where that would be too long, the condition stands once beside a union that repeats each
 * term often enough to be kept as a heap.
 */
function holdingOneOf(tokens: readonly string[], within: string): string {
  const condition = unscored(within);
  if (tokens.length * within.split('|').length <= MAX_TOKENS)
    return tokens.map((token) => `(@words:${token} ${condition})`).join('|');
  const repeated = Array.from({ length: HEAP_SIZE }, () => tokens.join('|')).join('|');
  return `(@words:(${repeated}) ${condition})`;
}

/** The name of no generation. */
const NO_GENERATION = 'none';
const MIN_WEIGHT = '0.000000001';

/**
 * Writes a condition so that it adds nothing to a score, whatever its shape and in both versions. Version 8.0 merges an
 * intersection into the one around it, whose terms then get its weight: the weight must not be 0, and each tag is weighted
 * 0 itself. Version 2.10 ignores the weight of a single tag, but keeps the weight of an intersection apart, so that a
 * single tag has to be made an intersection.
 */
function unscored(within: string): string {
  const tags = within.replaceAll(/@\w+:\{[^}]*\}/gu, (tag) => `(${tag})=>{$weight: 0}`);
  return `(${tags} -@generation:{${NO_GENERATION}})=>{$weight: ${MIN_WEIGHT}}`;
}
