import { RESP_TYPES } from 'redis';
import { keys } from '../../keys.js';
import type { Candidate, IndexSearch, WordSearch } from '../../ports.js';
import type { Redis } from '../../redis.js';
import { decodeVector, innerProduct, type VectorType } from '../../vectors.js';
import { nearestQuery, wordsQuery, type ChunkQuery, type SearchEffort } from './chunk-query.js';
import { readChunkReply } from './chunk-reply.js';
import { compileClause } from './clause.js';

/** Above this many the hidden generations are left out of the query: the check above the index drops their chunks. */
const MOST_HIDDEN = 1_000;
/** The same where they are left out once for each word. */
const MOST_HIDDEN_A_WORD = 50;
/** Searches that changes come between; the last is with all that is hidden, and as it is. */
const MOST_TRIES = 4;

export interface ChunkSearchOptions {
  /** Of the index to ask. */
  readonly alias: () => Promise<string>;
  readonly vectorType: VectorType;
  readonly effort: SearchEffort;
  readonly timeoutMilliseconds: number;
}

type Selection = Pick<WordSearch, 'callerId' | 'filter' | 'vector'>;
/** What to ask of the engine, given the text of what may be found. */
type Compose = (within: string) => ChunkQuery;

/** The best chunks within what access and filter let through, in one query of the engine. */
export function createChunkSearch(client: Redis, options: ChunkSearchOptions) {
  // Maps as lists: hundreds of rows are read faster than objects are made of them.
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Array });
  /** `vector`: what similarities are told to where the engine does not tell distances. */
  const ask = async (alias: string, query: ChunkQuery, vector?: Float32Array) => {
    // Not through `ft.search`: what it makes of each row costs more than the query.
    const reply = await binary.sendCommand([
      ...['FT.SEARCH', alias, ...query],
      ...['TIMEOUT', String(options.timeoutMilliseconds), 'DIALECT', '2'],
    ]);
    return readChunkReply(reply, (bytes) =>
      vector ? innerProduct(vector, decodeVector(bytes, options.vectorType)) : Number.NaN,
    );
  };

  /** Whether the last look found generations that nobody may see yet. */
  let sawHidden = false;

  const search = async (
    { callerId, filter, vector }: Selection,
    mostHidden: number,
    compose: Compose,
  ): Promise<Candidate[]> => {
    const clause = compileClause(callerId, filter);
    if (!clause) return [];
    const alias = await options.alias();
    for (let tries = 1; ; tries += 1) {
      const isLast = tries === MOST_TRIES;
      const looked = isLast ? [] : client.sRandMemberCount(keys.hidden, mostHidden + 1);
      // Mostly nothing is hidden: then the search is sent along with the look, and one round trip is saved.
      const guessed = tries === 1 && !sawHidden ? ask(alias, compose(clause.text), vector) : null;
      guessed?.catch(() => undefined);
      const known = await looked;
      if (!isLast) sawHidden = known.length > 0;
      const hidden = known.length > mostHidden ? [] : known;
      if (guessed && hidden.length > 0) continue;
      // Sent one after the other on one connection: the set is looked at again after the search.
      const [{ candidates, isWhole }, isHidden] = await Promise.all([
        guessed ?? ask(alias, compose(`${clause.text}${without(hidden)}`), vector),
        hidden.length > 0 ? client.smIsMember(keys.hidden, hidden) : [],
      ]);
      // One that was published meanwhile was left out, and what it replaced may have been unlinked already.
      const isCurrent = hidden.every((generation, i) => isHidden[i] === 1 || replacesNothing(generation));
      if (isLast || (isWhole && isCurrent)) return candidates;
    }
  };

  return {
    nearest: (request: IndexSearch) =>
      search(request, MOST_HIDDEN, (within) => nearestQuery(within, request, options)),
    byWords: (request: WordSearch) =>
      search(request, MOST_HIDDEN_A_WORD, (within) => wordsQuery(within, request)),
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
