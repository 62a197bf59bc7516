import { RESP_TYPES } from 'redis';
import type { WithCallerTags } from '../../access/with-caller-tags.js';
import { decodeVector, innerProduct, type VectorType } from '../../data-set/vectors.js';
import type { Candidate, IndexSearch, TermSearch } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';
import { nearestQuery, termsQuery, type ChunkQuery, type SearchEffort } from './chunk-query.js';
import { readChunkReply, type ChunkReply } from './chunk-reply.js';
import { compileClause } from './clause.js';

/**
 * Hidden generations that a query leaves out. Of more it finds the chunks, too, which the check above the index drops: it
 * asks for as many more.
 */
const MAX_HIDDEN = 1_000;
/** The same where they are left out once for each word. */
const MAX_HIDDEN_PER_TERM = 50;
/** How much more is asked for at a time. */
const GROWTH = { min: 2, max: 16 };
/** Most that the engine answers with, unless it is set otherwise. */
const MAX_ASKED = 1_000_000;
/** Searches of one question: the first ones are repeated when changes come between. */
const MAX_TRIES = 4;

export interface ChunkSearchOptions {
  /** Name by which the index is asked. */
  readonly alias: () => Promise<string>;
  readonly vectorType: VectorType;
  readonly effort: SearchEffort;
  readonly timeoutMilliseconds: number;
  readonly withCallerTags: WithCallerTags;
}

type Selection = Pick<TermSearch, 'callerId' | 'filter' | 'vector' | 'limit'>;
/** What to ask of the engine, given the text of what may be found. */
type Compose = (within: string, limit: number) => ChunkQuery;

/** One search: asks for the best so many chunks that are not of these generations. */
type AskFor = (limit: number, hidden?: readonly string[]) => Promise<ChunkReply>;

/** The best chunks within what access and filter let through, in one query of the engine. */
export function createChunkSearch(client: Redis, options: ChunkSearchOptions) {
  const ask = createAsk(client, options);
  const state: HiddenState = { client, sawHidden: false };

  const search = (selection: Selection, maxHidden: number, compose: Compose) =>
    options.withCallerTags(selection.callerId, async (caller) => {
      const { filter, vector, limit } = selection;
      const clause = compileClause(caller, filter);
      if (!clause) return [];
      const alias = await options.alias();
      const askFor: AskFor = (wanted, hidden = []) =>
        ask(alias, compose(`${clause.text}${without(hidden)}`, wanted), vector);
      return searchShown(askFor, state, { limit, maxHidden });
    });

  return {
    nearest: (request: IndexSearch) =>
      search(request, MAX_HIDDEN, (within, limit) => nearestQuery(within, { ...request, limit }, options)),
    byTerms: (request: TermSearch) =>
      search(request, MAX_HIDDEN_PER_TERM, (within, limit) => termsQuery(within, { ...request, limit })),
  };
}

function createAsk(client: Redis, { timeoutMilliseconds, vectorType }: ChunkSearchOptions) {
  // Maps as lists: hundreds of rows are read faster than objects are made of them.
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Array });
  const limits = ['TIMEOUT', String(timeoutMilliseconds), 'DIALECT', '2'];
  /** `vector`: what similarities are computed with where the engine does not tell distances. */
  return async (alias: string, query: ChunkQuery, vector?: Float32Array): Promise<ChunkReply> => {
    // Not through `ft.search`: what it makes of each row costs more than the query.
    const reply = await binary.sendCommand(['FT.SEARCH', alias, ...query, ...limits]);
    return readChunkReply(reply, (bytes) =>
      vector ? innerProduct(vector, decodeVector(bytes, vectorType)) : Number.NaN,
    );
  };
}

interface HiddenState {
  readonly client: Redis;
  /** Whether the last look found generations that nobody may see yet. */
  sawHidden: boolean;
}

/** Searches without what is hidden, again when that changed meanwhile. */
async function searchShown(
  askFor: AskFor,
  state: HiddenState,
  { limit, maxHidden }: { readonly limit: number; readonly maxHidden: number },
): Promise<Candidate[]> {
  const { client } = state;
  for (let tries = 1; tries < MAX_TRIES; tries += 1) {
    const looked = client.sRandMemberCount(keys.hidden, maxHidden + 1);
    // Mostly nothing is hidden: then the search is sent along with the look, and one round trip is saved.
    const guessed = tries === 1 && !state.sawHidden ? askFor(limit) : null;
    guessed?.catch(() => undefined);
    const known = await looked;
    state.sawHidden = known.length > 0;
    const areTooMany = known.length > maxHidden;
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
    if (!isWhole || !isCurrent) continue;
    return areTooMany ? fill(reply, limit, { askFor, client }) : reply.candidates;
  }
  // Changes come between again and again: the last search includes all that is hidden, and is taken as it is.
  return fill(await askFor(limit), limit, { askFor, client });
}

/** Asks for more as long as what is hidden takes places of a full answer. */
async function fill(
  first: ChunkReply,
  limit: number,
  { askFor, client }: { readonly askFor: AskFor; readonly client: Redis },
): Promise<Candidate[]> {
  let reply = first;
  for (let asked = limit; reply.found >= asked && asked < MAX_ASKED;) {
    const shown = await countShown(reply.candidates, client);
    if (shown >= limit) break;
    const needed = (asked * limit) / Math.max(1, shown);
    asked = Math.min(MAX_ASKED, asked * GROWTH.max, Math.max(asked * GROWTH.min, Math.ceil(needed)));
    reply = await askFor(asked);
  }
  return reply.candidates;
}

async function countShown(candidates: readonly Candidate[], client: Redis): Promise<number> {
  const generations = candidates.map(({ generation }) => generation);
  const distinct = [...new Set(generations)];
  const isHidden = distinct.length > 0 ? await client.smIsMember(keys.hidden, distinct) : [];
  const hidden = new Set(distinct.filter((_, i) => isHidden[i] === 1));
  return generations.filter((generation) => !hidden.has(generation)).length;
}

/** A document's first version was not there before, so an answer without it is whole. */
function replacesNothing(generation: string): boolean {
  return generation.split('.')[1] === '1';
}

function without(generations: readonly string[]): string {
  if (generations.length === 0) return '';
  return ` -@generation:{${generations.map((id) => id.replace(/[.-]/g, String.raw`\$&`)).join('|')}}`;
}
