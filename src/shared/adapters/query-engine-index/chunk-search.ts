import { RESP_TYPES } from 'redis';
import { keys } from '../../keys.js';
import type { Candidate, IndexSearch } from '../../ports.js';
import type { Redis } from '../../redis.js';
import { encodeVector, type VectorType } from '../../vectors.js';
import { compileClause } from './clause.js';
import { refuseWarnings } from './engine.js';

/** Above this many the hidden generations are left out of the query: the check above the index drops their chunks. */
const MOST_HIDDEN = 1_000;
/** Searches that changes come between; the last is with all that is hidden, and as it is. */
const MOST_TRIES = 4;

export interface ChunkSearchOptions {
  /** Of the index to ask. */
  readonly alias: () => Promise<string>;
  readonly vectorType: VectorType;
  /** Candidates that a search of an HNSW graph keeps in view; null for FLAT, which knows no such thing. */
  readonly efRuntime: number | null;
  readonly timeoutMilliseconds: number;
}

/** The nearest chunks within what access and filter let through, in one query of the engine. */
export function createChunkSearch(client: Redis, options: ChunkSearchOptions) {
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });

  const ask = async (alias: string, text: string, request: IndexSearch): Promise<Found> => {
    const { vector, limit, withTerms = true } = request;
    const fields = ['distance', ...(withTerms ? ['terms'] : [])];
    const effort = options.efRuntime === null ? '' : ` EF_RUNTIME ${String(options.efRuntime)}`;
    const query = `(${text})=>[KNN ${String(limit)} @vector $vector${effort} AS distance]`;
    // Not through `ft.search`: what it makes of each row costs more than the query.
    const reply = await binary.sendCommand([
      ...['FT.SEARCH', alias, query, 'RETURN', String(fields.length), ...fields],
      ...['SORTBY', 'distance', 'LIMIT', '0', String(limit), 'TIMEOUT', String(options.timeoutMilliseconds)],
      ...['PARAMS', '2', 'vector', encodeVector(vector, options.vectorType), 'DIALECT', '2'],
    ]);
    // @NOTE the layout of FT.SEARCH in RESP3, the same in 2.10 and 8
    const { results, warning } = reply as unknown as SearchReply;
    refuseWarnings(warning.map(String));
    const candidates = results.flatMap(toCandidate);
    return { candidates, isWhole: candidates.length === results.length };
  };

  return async (request: IndexSearch): Promise<Candidate[]> => {
    const clause = compileClause(request.callerId, request.filter);
    if (!clause) return [];
    const alias = await options.alias();
    for (let tries = 1; ; tries += 1) {
      const isLast = tries === MOST_TRIES;
      const known = isLast ? [] : await client.sRandMemberCount(keys.hidden, MOST_HIDDEN + 1);
      const hidden = known.length > MOST_HIDDEN ? [] : known;
      // Sent one after the other on one connection: the set is looked at again after the search.
      const [{ candidates, isWhole }, isHidden] = await Promise.all([
        ask(alias, `${clause.text}${without(hidden)}`, request),
        hidden.length > 0 ? client.smIsMember(keys.hidden, hidden) : [],
      ]);
      // One that was published meanwhile was left out, and what it replaced may have been unlinked already.
      const isCurrent = hidden.every((generation, i) => isHidden[i] === 1 || replacesNothing(generation));
      if (isLast || (isWhole && isCurrent)) return candidates;
    }
  };
}

interface Found {
  readonly candidates: Candidate[];
  /** False when a chunk was unlinked between being found and being read. */
  readonly isWhole: boolean;
}
interface SearchReply {
  readonly results: readonly SearchRow[];
  readonly warning: readonly (Buffer | string)[];
}
interface SearchRow {
  readonly id: Buffer;
  /** Null for a chunk that is gone, where the engine searches in threads (`search-workers` of Redis 8). */
  readonly extra_attributes: { readonly distance?: Buffer; readonly terms?: Buffer } | null;
}

const NO_TERMS = new Uint8Array();

function toCandidate({ id, extra_attributes: fields }: SearchRow): Candidate[] {
  if (!fields?.distance) return [];
  const { distance, terms } = fields;
  const address = id.toString('latin1', keys.chunkPrefix.length);
  const colon = address.lastIndexOf(':');
  const generation = address.slice(0, colon);
  return [
    {
      documentId: generation.slice(0, generation.indexOf('.')),
      generation,
      number: Number(address.slice(colon + 1)),
      similarity: 1 - Number(distance.toString('latin1')),
      terms: terms ?? NO_TERMS,
    },
  ];
}

/** Of a document's first version: it was not there before, so an answer without it is whole. */
function replacesNothing(generation: string): boolean {
  return generation.split('.')[1] === '1';
}

function without(generations: readonly string[]): string {
  if (generations.length === 0) return '';
  return ` -@generation:{${generations.map((id) => id.replace(/[.-]/g, String.raw`\$&`)).join('|')}}`;
}
