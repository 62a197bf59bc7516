import { RESP_TYPES } from 'redis';
import type { CallerTags } from '../../audience.js';
import type { AskAs } from '../../audiences.js';
import { keys } from '../../keys.js';
import type { Candidate, IndexSearch, WordSearch } from '../../ports.js';
import type { Redis } from '../../redis.js';
import { decodeVector, innerProduct, type VectorType } from '../../vectors.js';
import { nearestQuery, wordsQuery, type ChunkQuery, type SearchEffort } from './chunk-query.js';
import { readChunkReply, type ChunkReply } from './chunk-reply.js';
import { compileClause } from './clause.js';

/**
 * Hidden generations that a query leaves out. Of more it finds the chunks, too, which the check above the index drops: it
 * asks for as many more.
 */
const MOST_HIDDEN = 1_000;
/** The same where they are left out once for each word. */
const MOST_HIDDEN_A_WORD = 50;
/** How much more is asked for at a time. */
const GROWTH = { least: 2, most: 16 };
/** Most that the engine answers with, unless it is set otherwise. */
const MOST_ASKED = 1_000_000;
/** Searches that changes come between; the last is with all that is hidden, and as it is. */
const MOST_TRIES = 4;

export interface ChunkSearchOptions {
  /** Of the index to ask. */
  readonly alias: () => Promise<string>;
  readonly vectorType: VectorType;
  readonly effort: SearchEffort;
  readonly timeoutMilliseconds: number;
  readonly askAs: AskAs;
}

type Selection = Pick<WordSearch, 'callerId' | 'filter' | 'vector' | 'limit'>;
/** What to ask of the engine, given the text of what may be found. */
type Compose = (within: string, limit: number) => ChunkQuery;

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

  const countShown = async (candidates: readonly Candidate[]): Promise<number> => {
    const generations = candidates.map(({ generation }) => generation);
    const distinct = [...new Set(generations)];
    const isHidden = distinct.length > 0 ? await client.smIsMember(keys.hidden, distinct) : [];
    const hidden = new Set(distinct.filter((_, i) => isHidden[i] === 1));
    return generations.filter((generation) => !hidden.has(generation)).length;
  };

  /** Asks for more as long as what is hidden takes places of a full answer. */
  const fill = async (first: ChunkReply, limit: number, askFor: (limit: number) => Promise<ChunkReply>) => {
    let reply = first;
    for (let asked = limit; reply.found >= asked && asked < MOST_ASKED;) {
      const shown = await countShown(reply.candidates);
      if (shown >= limit) break;
      const needed = (asked * limit) / Math.max(1, shown);
      asked = Math.min(MOST_ASKED, asked * GROWTH.most, Math.max(asked * GROWTH.least, Math.ceil(needed)));
      reply = await askFor(asked);
    }
    return reply.candidates;
  };

  const searchAs = async (
    caller: CallerTags,
    { filter, vector, limit }: Selection,
    { mostHidden, compose }: { mostHidden: number; compose: Compose },
  ): Promise<Candidate[]> => {
    const clause = compileClause(caller, filter);
    if (!clause) return [];
    const alias = await options.alias();
    const askFor = (most: number, hidden: readonly string[] = []) =>
      ask(alias, compose(`${clause.text}${without(hidden)}`, most), vector);
    for (let tries = 1; ; tries += 1) {
      const isLast = tries === MOST_TRIES;
      const looked = isLast ? [] : client.sRandMemberCount(keys.hidden, mostHidden + 1);
      // Mostly nothing is hidden: then the search is sent along with the look, and one round trip is saved.
      const guessed = tries === 1 && !sawHidden ? askFor(limit) : null;
      guessed?.catch(() => undefined);
      const known = await looked;
      if (!isLast) sawHidden = known.length > 0;
      const areTooMany = known.length > mostHidden;
      const hidden = areTooMany ? [] : known;
      if (guessed && hidden.length > 0) continue;
      // Sent one after the other on one connection: the set is looked at again after the search.
      const [reply, isHidden] = await Promise.all([
        guessed ?? askFor(limit, hidden),
        hidden.length > 0 ? client.smIsMember(keys.hidden, hidden) : [],
      ]);
      // One that was published meanwhile was left out, and what it replaced may have been unlinked already.
      const isCurrent = hidden.every((generation, i) => isHidden[i] === 1 || replacesNothing(generation));
      const isWhole = reply.candidates.length === reply.found;
      if (!isLast && !(isWhole && isCurrent)) continue;
      return isLast || areTooMany ? fill(reply, limit, askFor) : reply.candidates;
    }
  };

  const search = (selection: Selection, mostHidden: number, compose: Compose) =>
    options.askAs(selection.callerId, (caller) => searchAs(caller, selection, { mostHidden, compose }));

  return {
    nearest: (request: IndexSearch) =>
      search(request, MOST_HIDDEN, (within, limit) => nearestQuery(within, { ...request, limit }, options)),
    byWords: (request: WordSearch) =>
      search(request, MOST_HIDDEN_A_WORD, (within, limit) => wordsQuery(within, { ...request, limit })),
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
