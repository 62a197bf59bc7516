import { RESP_TYPES } from 'redis';
import type { TermWeights } from '../../../index/index.js';
import type { WithCallerTags } from '../../access/with-caller-tags.js';
import type { VectorType } from '../../data-set/stored-vectors.js';
import type { VectorSearch } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';
import { dropOldest } from '../../tools/drop-oldest.js';
import {
  ALL,
  anyQuery,
  countQuery,
  nearestQuery,
  termsQuery,
  chooseEffort,
  readChunkReply,
  type ChunkQuery,
  type SearchEffort,
  type ChunkReply,
  type FoundChunk,
} from './chunk-query.js';
import { compileClause } from './clause.js';
import type { AreOwnersTagged } from './owner-tags.js';

/**
 * A query excludes up to this many hidden generations. Beyond that it excludes none: it finds their chunks too, which the
 * check above the index drops, and asks for that many more.
 */
const MAX_HIDDEN = 1_000;
/** The same limit for a search by terms, which repeats the exclusion for each term. */
const MAX_HIDDEN_PER_TERM = 50;
/** The least and the greatest factor by which more is asked for each time. */
const GROWTH = { min: 2, max: 16 };
/** The engine returns this many results at most, unless it is configured otherwise. */
const MAX_ASKED = 1_000_000;
/** A question is searched this often when changes come in between. */
const MAX_TRIES = 4;

export interface ChunkSearchOptions {
  /** The name by which queries address the index. */
  readonly alias: () => Promise<string>;
  readonly vectorType: VectorType;
  readonly effort: EffortOptions;
  readonly timeoutMilliseconds: number;
  readonly withCallerTags: WithCallerTags;
  readonly areOwnersTagged: AreOwnersTagged;
}

/** The options that decide the effort of a search: `graph` is as `chooseEffort` says. */
export type EffortOptions =
  { readonly type: 'flat' | 'all' } | { readonly type: 'graph'; readonly efRuntime: number };

type Selection = Pick<VectorSearch, 'principal' | 'filter' | 'limit'>;

/** The candidates that were found, and the generations among them that are known to be hidden. */
export interface FoundChunks {
  readonly candidates: readonly FoundChunk[];
  readonly hidden: ReadonlySet<string>;
}
/** Makes the query from the condition on chunks. */
type Compose = (within: string, limit: number) => ChunkQuery;
/** Finds out the facts that the queries of a condition depend on. */
type Prepare = (clause: string) => Promise<Compose>;

/** Runs one search for the best `limit` chunks that are not of the hidden generations. */
type AskFor = (limit: number, hidden?: readonly string[]) => Promise<ChunkReply>;

/** Finds the best chunks that access and filter let through, with one query where nothing comes in between. */
export function createChunkSearch(client: Redis, options: ChunkSearchOptions) {
  const ask = createAsk(client, options);
  const state: HiddenState = { client, sawHidden: false };

  const search = (selection: Selection, maxHidden: number, prepare: Prepare) =>
    options.withCallerTags(selection.principal, async (caller) => {
      const { filter, limit } = selection;
      const clause = compileClause(caller, filter, await options.areOwnersTagged(filter));
      if (!clause) return NOTHING;
      const alias = await options.alias();
      const compose = await prepare(clause.text);
      const askFor: AskFor = (wanted, hidden = []) =>
        ask(alias, compose(`${clause.text}${without(hidden)}`, wanted));
      return searchShown(askFor, state, { limit, maxHidden });
    });

  const counts = createChunkCounts(
    async (within) => (await ask(await options.alias(), countQuery(within))).total,
  );
  const nearest = (request: VectorSearch) =>
    search(request, MAX_HIDDEN, async (clause) => {
      const effortFor = await prepareEffort(options.effort, counts, clause);
      return (within, limit) =>
        nearestQuery(within, { ...request, limit }, { ...options, effort: effortFor(limit) });
    });
  return {
    nearest: async (request: VectorSearch) => (await nearest(request)).candidates,
    byTerms: (request: Selection & { readonly terms: TermWeights }) =>
      search(
        request,
        MAX_HIDDEN_PER_TERM,
        ready((within, limit) => termsQuery(within, { ...request, limit })),
      ),
    any: async (request: Selection) => (await search(request, MAX_HIDDEN, ready(anyQuery))).candidates,
  };
}

const ready =
  (compose: Compose): Prepare =>
  () =>
    Promise.resolve(compose);

/** @returns the effort of a search for `limit` vectors */
async function prepareEffort(
  effort: EffortOptions,
  counts: ChunkCounts,
  clause: string,
): Promise<(limit: number) => SearchEffort> {
  if (effort.type !== 'graph') return () => effort;
  const { efRuntime } = effort;
  const [readable, total] = await Promise.all([counts(clause), counts(ALL)]);
  return (limit) => chooseEffort({ efRuntime, limit, readable, total });
}

const NONE: ReadonlySet<string> = new Set();
const NOTHING: FoundChunks = { candidates: [], hidden: NONE };

export type ChunkSearch = ReturnType<typeof createChunkSearch>;

function createAsk(client: Redis, { timeoutMilliseconds }: ChunkSearchOptions) {
  // Maps are read as lists, because objects for hundreds of rows would take longer.
  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.MAP]: Array });
  const limits = ['TIMEOUT', String(timeoutMilliseconds), 'DIALECT', '2'];
  return async (alias: string, query: ChunkQuery): Promise<ChunkReply> => {
    // `ft.search` is not used, since the objects that it makes of each row cost more than the query.
    const reply = await binary.sendCommand(['FT.SEARCH', alias, ...query, ...limits]);
    return readChunkReply(reply);
  };
}

interface HiddenState {
  readonly client: Redis;
  /** True if there were hidden generations the last time that anybody looked. */
  sawHidden: boolean;
}

/** Searches without hidden generations, and again when these changed meanwhile. */
async function searchShown(
  askFor: AskFor,
  state: HiddenState,
  { limit, maxHidden }: { readonly limit: number; readonly maxHidden: number },
): Promise<FoundChunks> {
  const { client } = state;
  for (let tries = 1; tries < MAX_TRIES; tries += 1) {
    const looked = client.sRandMemberCount(keys.hidden, maxHidden + 1);
    // Mostly nothing is hidden. Then the search is sent along with this command, which saves a round trip.
    const guessed = tries === 1 && !state.sawHidden ? askFor(limit) : null;
    guessed?.catch(() => undefined);
    const known = await looked;
    state.sawHidden = known.length > 0;
    const areTooMany = known.length > maxHidden;
    const hidden = areTooMany ? [] : known;
    if (guessed && hidden.length > 0) continue;
    // Both go over one connection in this order, so that the set is read again after the search.
    const [reply, isHidden] = await Promise.all([
      guessed ?? askFor(limit, hidden),
      hidden.length > 0 ? client.smIsMember(keys.hidden, hidden) : [],
    ]);
    // A generation that was published meanwhile was excluded, and the generation that it replaced may have been unlinked
    // already.
    const isCurrent = hidden.every((generation, i) => isHidden[i] === 1 || replacesNothing(generation));
    const isWhole = reply.candidates.length === reply.found;
    if (!isWhole || !isCurrent) continue;
    if (!areTooMany) return { candidates: reply.candidates, hidden: NONE };
    return fill(reply, limit, { askFor, client });
  }
  // Changes keep coming in between. The last search includes all that is hidden, and is taken as it is.
  return fill(await askFor(limit), limit, { askFor, client });
}

/** Asks for more as long as hidden chunks take places in a full answer. */
async function fill(
  first: ChunkReply,
  limit: number,
  { askFor, client }: { readonly askFor: AskFor; readonly client: Redis },
): Promise<FoundChunks> {
  let { candidates, found } = first;
  for (let asked = limit; ;) {
    const hidden = await readHidden(candidates, client);
    const shown = candidates.filter(({ generation }) => !hidden.has(generation)).length;
    if (shown >= limit || found < asked || asked >= MAX_ASKED) return { candidates, hidden };
    const needed = (asked * limit) / Math.max(1, shown);
    asked = Math.min(MAX_ASKED, asked * GROWTH.max, Math.max(asked * GROWTH.min, Math.ceil(needed)));
    ({ candidates, found } = await askFor(asked));
  }
}

async function readHidden(candidates: readonly FoundChunk[], client: Redis): Promise<ReadonlySet<string>> {
  const distinct = [...new Set(candidates.map(({ generation }) => generation))];
  const isHidden = distinct.length > 0 ? await client.smIsMember(keys.hidden, distinct) : [];
  return new Set(distinct.filter((_, i) => isHidden[i] === 1));
}

/** The first version of a document replaces nothing, so that an answer without it is whole. */
function replacesNothing(generation: string): boolean {
  return generation.split('.')[1] === '1';
}

function without(generations: readonly string[]): string {
  if (generations.length === 0) return '';
  return ` -@generation:{${generations.map((id) => id.replace(/[.-]/g, String.raw`\$&`)).join('|')}}`;
}

/** Counts of this many conditions are remembered. */
const MAX_KNOWN = 1_024;
/** A count that is older is made anew for the searches that follow. Counting 100,000 chunks takes some 3 ms. */
const FRESH_MILLISECONDS = 60_000;

/** Tells how many chunks a condition lets through, perhaps a while ago. */
type ChunkCounts = (within: string) => Promise<number>;

interface Counted {
  readonly at: number;
  readonly count: Promise<number>;
}

/** Remembers counts: only the first search of a condition waits, and the old count serves while it is made anew. */
export function createChunkCounts(
  read: (within: string) => Promise<number>,
  now: () => number = () => performance.now(),
): ChunkCounts {
  const known = new Map<string, Counted>();
  const remember = (within: string, count: Promise<number>): Promise<number> => {
    // A map keeps the order of insertion, so that its first condition is the one with the oldest count.
    known.delete(within);
    known.set(within, { at: now(), count });
    dropOldest(known, MAX_KNOWN);
    return count;
  };
  const begin = (within: string): Promise<number> => {
    const count = remember(within, read(within));
    count.catch(() => known.delete(within));
    return count;
  };
  const renew = (within: string, old: Promise<number>): Promise<number> => {
    read(within).then(
      (count) => remember(within, Promise.resolve(count)),
      // The old one serves for another while; a search that cannot be made says so itself.
      () => undefined,
    );
    return remember(within, old);
  };
  return (within) => {
    const counted = known.get(within);
    if (!counted) return begin(within);
    return now() - counted.at > FRESH_MILLISECONDS ? renew(within, counted.count) : counted.count;
  };
}
