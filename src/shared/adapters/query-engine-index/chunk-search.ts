import { RESP_TYPES } from 'redis';
import { keys } from '../../keys.js';
import type { Candidate, IndexSearch } from '../../ports.js';
import type { Redis } from '../../redis.js';
import { encodeVector, type VectorType } from '../../vectors.js';
import { compileClause } from './clause.js';
import { refuseWarnings } from './engine.js';

/** Above this many the hidden generations are left out of the query: the check above the index drops their chunks. */
const MOST_HIDDEN = 1_000;
/** Searches without what was hidden, before one with all of it. */
const MOST_TRIES = 3;

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

  const ask = async (alias: string, text: string, request: IndexSearch): Promise<Candidate[]> => {
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
    return results.flatMap(toCandidate);
  };

  return async (request: IndexSearch): Promise<Candidate[]> => {
    const clause = compileClause(request.callerId, request.filter);
    if (!clause) return [];
    const alias = await options.alias();
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const hidden = await client.sRandMemberCount(keys.hidden, MOST_HIDDEN + 1);
      if (hidden.length === 0 || hidden.length > MOST_HIDDEN) break;
      // Sent one after the other on one connection: the set is looked at again after the search.
      const [candidates, isHidden] = await Promise.all([
        ask(alias, `${clause.text}${without(hidden)}`, request),
        client.smIsMember(keys.hidden, hidden),
      ]);
      // One that was published meanwhile was left out, and what it replaced may have been unlinked already.
      if (hidden.every((generation, i) => isHidden[i] === 1 || replacesNothing(generation)))
        return candidates;
    }
    return ask(alias, clause.text, request);
  };
}

interface SearchReply {
  readonly results: readonly SearchRow[];
  readonly warning: readonly (Buffer | string)[];
}
interface SearchRow {
  readonly id: Buffer;
  readonly extra_attributes: { readonly distance?: Buffer; readonly terms?: Buffer };
}

const NO_TERMS = new Uint8Array();

/** A chunk that was unlinked while the engine answered has no fields any more. */
function toCandidate({ id, extra_attributes: { distance, terms } }: SearchRow): Candidate[] {
  if (!distance) return [];
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
  return ` -@generation:{${generations.map((id) => id.replace(/[.-]/g, String.raw`\$&`)).join('|')}}`;
}
