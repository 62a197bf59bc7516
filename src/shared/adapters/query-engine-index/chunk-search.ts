import { RESP_TYPES } from 'redis';
import { keys } from '../../keys.js';
import type { Candidate, CandidatePart, IndexSearch } from '../../ports.js';
import type { Redis } from '../../redis.js';
import { encodeVector, type VectorType } from '../../vectors.js';
import { readChunkReply } from './chunk-reply.js';
import { compileClause } from './clause.js';

/** Above this many the hidden generations are left out of the query: the check above the index drops their chunks. */
const MOST_HIDDEN = 1_000;
/** Searches that changes come between; the last is with all that is hidden, and as it is. */
const MOST_TRIES = 4;

const FIELDS = { similarity: 'distance', terms: 'terms' } as const satisfies Record<CandidatePart, string>;

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
  // Maps as lists: hundreds of rows are read faster than objects are made of them.
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Array });

  const ask = async (alias: string, text: string, request: IndexSearch) => {
    const { vector, limit, reads = ['similarity', 'terms'] } = request;
    const fields = reads.map((part) => FIELDS[part]);
    const effort = options.efRuntime === null ? '' : ` EF_RUNTIME ${String(options.efRuntime)}`;
    const query = `(${text})=>[KNN ${String(limit)} @vector $vector${effort} AS distance]`;
    // Not through `ft.search`: what it makes of each row costs more than the query.
    const reply = await binary.sendCommand([
      ...['FT.SEARCH', alias, query, 'RETURN', String(fields.length), ...fields],
      ...['SORTBY', 'distance', 'LIMIT', '0', String(limit), 'TIMEOUT', String(options.timeoutMilliseconds)],
      ...['PARAMS', '2', 'vector', encodeVector(vector, options.vectorType), 'DIALECT', '2'],
    ]);
    return readChunkReply(reply);
  };

  /** Whether the last look found generations that nobody may see yet. */
  let sawHidden = false;

  return async (request: IndexSearch): Promise<Candidate[]> => {
    const clause = compileClause(request.callerId, request.filter);
    if (!clause) return [];
    const alias = await options.alias();
    for (let tries = 1; ; tries += 1) {
      const isLast = tries === MOST_TRIES;
      const looked = isLast ? [] : client.sRandMemberCount(keys.hidden, MOST_HIDDEN + 1);
      // Mostly nothing is hidden: then the search is sent along with the look, and one round trip is saved.
      const isGuess = tries === 1 && !sawHidden;
      const guessed = isGuess ? ask(alias, clause.text, request) : null;
      guessed?.catch(() => undefined);
      const known = await looked;
      if (!isLast) sawHidden = known.length > 0;
      const hidden = known.length > MOST_HIDDEN ? [] : known;
      if (guessed && hidden.length > 0) continue;
      // Sent one after the other on one connection: the set is looked at again after the search.
      const [{ candidates, isWhole }, isHidden] = await Promise.all([
        guessed ?? ask(alias, `${clause.text}${without(hidden)}`, request),
        hidden.length > 0 ? client.smIsMember(keys.hidden, hidden) : [],
      ]);
      // One that was published meanwhile was left out, and what it replaced may have been unlinked already.
      const isCurrent = hidden.every((generation, i) => isHidden[i] === 1 || replacesNothing(generation));
      if (isLast || (isWhole && isCurrent)) return candidates;
    }
  };
}

/** Of a document's first version: it was not there before, so an answer without it is whole. */
function replacesNothing(generation: string): boolean {
  return generation.split('.')[1] === '1';
}

function without(generations: readonly string[]): string {
  if (generations.length === 0) return '';
  return ` -@generation:{${generations.map((id) => id.replace(/[.-]/g, String.raw`\$&`)).join('|')}}`;
}
