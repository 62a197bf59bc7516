import type { TermWeights } from '../../../index/index.js';
import { encodeVector, type VectorType } from '../../data-set/stored-vectors.js';
import { UnavailableError } from '../../errors.js';
import type { VectorSearch } from '../../ports.js';
import { keys } from '../../redis/keys.js';
import { termToken } from '../../text/term-tokens.js';
import { refuseWarnings } from './engine.js';

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

/**
 * The thoroughness of a search: `graph` keeps `inView` candidates in view while it walks an HNSW graph, `all` compares with
 * every vector of an HNSW index that a condition lets through. A FLAT index has no graph, and the engine chooses how to
 * read all vectors.
 */
export type SearchEffort =
  { readonly type: 'flat' | 'all' } | { readonly type: 'graph'; readonly inView: number };

/**
 * Comparing with this many vectors takes about as long as walking a graph, or some milliseconds with many dimensions. It
 * finds the nearest for certain. A graph does not where a condition lets through few of the vectors that it leads to.
 */
const MAX_COMPARED = 10_000;
/** Keeping one more vector in view takes as long as comparing with this many. */
const COMPARED_FOR_ONE = 12;

/**
 * Chooses for an HNSW index. The engine's own choice is not used: it asks how fast a search is, and not how good its
 * results are, and compares with all of up to 300,000 vectors where more than 12 are asked for.
 *
 * @param efRuntime the number of candidates that are to be in view of a search that may find everything; a condition that
 *   lets through half of the vectors needs twice as many, so that as many of them may be found
 */
export function chooseEffort(of: {
  readonly efRuntime: number;
  /** The number of vectors that are asked for. */
  readonly limit: number;
  /** The number of vectors that the condition lets through; `total` is the number of all. */
  readonly readable: number;
  readonly total: number;
}): SearchEffort {
  const { efRuntime, limit, readable, total } = of;
  if (readable <= MAX_COMPARED) return { type: 'all' };
  const inView = Math.ceil(Math.max(efRuntime, limit) * Math.max(1, total / readable));
  return readable <= COMPARED_FOR_ONE * inView ? { type: 'all' } : { type: 'graph', inView };
}

export interface ChunkReply {
  readonly candidates: FoundChunk[];
  /** The number of chunks that were found. There are fewer candidates when a chunk was unlinked before it could be read. */
  readonly found: number;
  /** The number of all matches, however many were asked for; it means nothing for a search of the nearest. */
  readonly total: number;
}

/**
 * Reads the reply of FT.SEARCH in RESP3, with maps as lists of names and values. Versions 2.10 and 8 answer alike.
 *
 * @throws UnavailableError when the reply is incomplete
 */
export function readChunkReply(reply: unknown): ChunkReply {
  refuseWarnings(listAt(reply, 'warning').map(String));
  const rows = listAt(reply, 'results');
  refuseZero(valueAt(rows[0], 'score'));
  const candidates: FoundChunk[] = [];
  for (const row of rows) {
    const id = valueAt(row, 'id');
    // The fields are null for a chunk that is gone, where the engine searches in threads (`search-workers` of Redis 8).
    const fields = valueAt(row, 'extra_attributes');
    const [distance, terms] = [bytesOf(valueAt(fields, 'distance')), bytesOf(valueAt(fields, 'terms'))];
    if (!(id instanceof Buffer) || !(distance ?? terms)) continue;
    candidates.push(new FoundChunk(id, distance, terms));
  }
  return { candidates, found: rows.length, total: Number(valueAt(reply, 'total_results')) };
}

/**
 * Refuses a reply to a search by terms whose best score is 0: nothing was ranked
 * then, and any chunks may have been returned.
 */
function refuseZero(score: unknown): void {
  const isTold = typeof score === 'number' || score instanceof Buffer;
  if (isTold && Number(score) === 0)
    throw new UnavailableError('index', { cause: new Error('the engine scores no word of the query') });
}

const NAMES = {
  results: Buffer.from('results'),
  total_results: Buffer.from('total_results'),
  warning: Buffer.from('warning'),
  id: Buffer.from('id'),
  score: Buffer.from('score'),
  extra_attributes: Buffer.from('extra_attributes'),
  distance: Buffer.from('distance'),
  terms: Buffer.from('terms'),
};
const NO_TERMS = new Uint8Array();

/** A found chunk that reads keys and numbers only when asked for, since few of hundreds are looked at closely. */
export class FoundChunk {
  /** @param distance in the engine's digits; null where it was not asked for */
  constructor(
    private readonly key: Buffer,
    private readonly distance: Buffer | null,
    private readonly packedTerms: Buffer | null,
  ) {}

  get terms(): Uint8Array {
    return this.packedTerms ?? NO_TERMS;
  }

  get similarity(): number {
    return this.distance ? 1 - Number(this.distance.toString('latin1')) : Number.NaN;
  }

  get documentId(): string {
    const { generation } = this;
    return generation.slice(0, generation.indexOf('.'));
  }

  get generation(): string {
    return this.key.toString('latin1', keys.chunkPrefix.length, this.key.lastIndexOf(COLON));
  }

  get number(): number {
    return Number(this.key.toString('latin1', this.key.lastIndexOf(COLON) + 1));
  }
}

const COLON = ':'.charCodeAt(0);

function bytesOf(value: unknown): Buffer | null {
  return value instanceof Buffer ? value : null;
}

/** Reads a value of a map. Names are text or bytes, depending on the version and the place. */
function valueAt(map: unknown, name: keyof typeof NAMES): unknown {
  if (!Array.isArray(map)) return null;
  const bytes = NAMES[name];
  for (let at = 0; at < map.length; at += 2) {
    const found: unknown = map[at];
    const isIt =
      found instanceof Buffer ? found.length === bytes.length && found.equals(bytes) : found === name;
    if (isIt) return map[at + 1];
  }
  return null;
}

function listAt(map: unknown, name: keyof typeof NAMES): readonly unknown[] {
  const value = valueAt(map, name);
  if (!Array.isArray(value)) throw new TypeError(`FT.SEARCH answered without ${name}`);
  return value;
}
