import { encodeVector, type VectorType } from '../../data-set/vectors.js';
import type { CandidatePart, IndexSearch, TermSearch } from '../../ports.js';
import { termToken } from '../../text/term-tokens.js';

/** Arguments of FT.SEARCH after the name of the index. */
export type ChunkQuery = readonly (string | Buffer)[];

const FIELDS = { similarity: 'distance', terms: 'terms' } as const satisfies Record<CandidatePart, string>;

/** The most tokens of a query: the engine reads some 50,000 a second, on the thread that serves everybody. */
const MAX_TOKENS = 4_000;

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
    'RETURN',
    String(fields.length),
    ...fields,
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
  { query, limit, vector }: Pick<TermSearch, 'query' | 'limit' | 'vector'>,
): ChunkQuery {
  const fields = ['terms', ...(vector ? ['vector'] : [])];
  return [
    holdingOneOf(Array.from(query.terms, termToken), within),
    'VERBATIM',
    'SCORER',
    'BM25STD',
    'WITHSCORES',
    'RETURN',
    String(fields.length),
    ...fields,
    'LIMIT',
    '0',
    String(limit),
  ];
}

/**
 * A union of fewer, or of so many of which fewer are words of any chunk, forgets all but one of a chunk's words inside an
 * intersection whose other side has skipped chunks; a larger one is kept as a heap, which does not (2.10 and 8.0).
 */
const HEAP_SIZE = 21;

/**
 * The condition stands once for each word, so that none of a chunk's words is forgotten for its score. Where that would
 * be too much to read, it stands once beside a union that holds each word often enough.
 */
function holdingOneOf(words: readonly string[], within: string): string {
  const condition = unscored(within);
  if (words.length * within.split('|').length <= MAX_TOKENS)
    return words.map((word) => `(@words:${word} ${condition})`).join('|');
  const repeated = Array.from({ length: HEAP_SIZE }, () => words.join('|')).join('|');
  return `(@words:(${repeated}) ${condition})`;
}

/** No generation. */
const NO_GENERATION = 'none';
const MIN_WEIGHT = '0.000000001';

/**
 * A condition that adds nothing to a score, whatever its shape and on both versions. 8.0 merges an intersection into the
 * one around it, whose words then get its weight: so it must not be 0, and each tag is weighted 0 itself. 2.10 ignores
 * the weight of a single tag, but keeps that of an intersection apart, which a single tag therefore has to be.
 */
function unscored(within: string): string {
  const tags = within.replaceAll(/@\w+:\{[^}]*\}/gu, (tag) => `(${tag})=>{$weight: 0}`);
  return `(${tags} -@generation:{${NO_GENERATION}})=>{$weight: ${MIN_WEIGHT}}`;
}
