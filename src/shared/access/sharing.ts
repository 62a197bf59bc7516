import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MatchableDocument } from '../document.js';
import { TooManyError } from '../errors.js';
import type { Filter } from '../filters/parse.js';
import { ID_PATH, OWNER_PATH } from '../filters/paths.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript } from '../redis/script.js';
import { canFind, type Principal } from './access.js';

/** The documents of others that are found: all that name the caller, those that the caller has accepted, or none. */
export const SHARED = ['all', 'accepted', 'own'] as const;
export type Shared = (typeof SHARED)[number];

/** The lists in which a caller accepts or blocks documents that others share. An owner is in one of the lists at most. */
export interface SharingLists {
  /** Nothing of theirs is found, whatever else is said. */
  readonly blockedOwners: readonly string[];
  /** Everything of theirs is accepted. */
  readonly acceptedOwners: readonly string[];
  readonly acceptedDocuments: readonly string[];
}

/** The lists of a caller, and the name of this state of them; an empty one where there are none. */
interface Sharing {
  readonly lists: SharingLists;
  readonly revision: string;
}

export const NO_LISTS: SharingLists = { blockedOwners: [], acceptedOwners: [], acceptedDocuments: [] };

/** The most entries of each list: a query names each of them, and an engine reads some 50,000 a second. */
export const MAX_SHARING_ENTRIES = 1_000;

/**
 * Makes the filter of the documents that a caller finds among all that they may read; null for all of them. It names fields
 * that metadata cannot hide, and is a filter so that everything that heeds filters heeds it: masks, queries of engines, and
 * the check of each hit.
 */
export function sharingRule(callerId: string, shared: Shared, lists: SharingLists): Filter | null {
  if (shared === 'own') return ownedBy([callerId]);
  const isBlocked = lists.blockedOwners.length > 0 ? ownedBy(lists.blockedOwners) : null;
  const isOpen: Filter | null = isBlocked && { type: 'not', filter: isBlocked };
  return shared === 'all' ? isOpen : bothFilters(acceptedBy(callerId, lists), isOpen);
}

/** Tells whether a caller finds what an owner makes, apart from documents that were accepted one by one. */
export function findsOwner(
  callerId: string,
  ownerId: string,
  { shared, lists }: { readonly shared: Shared; readonly lists: SharingLists },
): boolean {
  if (ownerId === callerId) return true;
  if (shared === 'own' || lists.blockedOwners.includes(ownerId)) return false;
  return shared === 'all' || lists.acceptedOwners.includes(ownerId);
}

function acceptedBy(callerId: string, { acceptedOwners, acceptedDocuments }: SharingLists): Filter {
  const byOwner = ownedBy([callerId, ...acceptedOwners]);
  if (acceptedDocuments.length === 0) return byOwner;
  const byId: Filter = { type: 'equals', path: ID_PATH, values: acceptedDocuments };
  return { type: 'or', filters: [byOwner, byId] };
}

const ownedBy = (owners: readonly string[]): Filter => ({ type: 'equals', path: OWNER_PATH, values: owners });

/** Makes the filter that passes documents which pass both filters; null lets everything pass. */
export function bothFilters(one: Filter | null, other: Filter | null): Filter | null {
  return one && other ? { type: 'and', filters: [one, other] } : (one ?? other);
}

/** Who looks for documents, and their choice about documents of others; the setting holds where they make none. */
export interface Looking {
  readonly principal: Principal;
  readonly shared?: Shared | undefined;
  readonly filter: Filter | null;
}

/** The documents that are looked for. */
export interface View {
  /** The filter of the caller, together with their rule for documents of others. */
  readonly filter: Filter | null;
  /** The guard for the reader of hits, which finds out whether the lists are still these; null where no list was looked at. */
  readonly guard: SharingGuard | null;
}

/** The views that callers have of documents that others share with them. */
export interface SharedViews {
  /** The choice of callers who make none. */
  readonly standard: Shared;
  /** Runs a search with the lists that are remembered, and again where it finds out that they are others by now. */
  within<Result>(looking: Looking, run: (view: View) => Promise<Result>): Promise<Result>;
  /** The filter of a list, by the lists of now. */
  filterOf(looking: Looking): Promise<Filter | null>;
  /** Tells of records whether a caller may read them and wants to see them, by the lists of now. */
  predicateOf(looking: Omit<Looking, 'filter'>): Promise<(record: MatchableDocument) => boolean>;
  read(callerId: string): Promise<SharingLists>;
  /** Changes the lists of a caller. Nothing is written where `change` returns the lists that it got. */
  change(callerId: string, change: (lists: SharingLists) => SharingLists): Promise<SharingLists>;
}

/** The number of times that others may change the lists of the same caller in between. */
const MAX_TRIES = 20;

const listsSchema = z.object({
  blockedOwners: z.array(z.string()),
  acceptedOwners: z.array(z.string()),
  acceptedDocuments: z.array(z.string()),
});

const NOTHING: Sharing = { lists: NO_LISTS, revision: '' };

export function createSharedViews(
  redis: Pick<Redis, 'eval' | 'hmGet'>,
  { standard = 'all' }: { readonly standard?: Shared } = {},
): SharedViews {
  const known = createKnownLists();
  const read = (callerId: string) => readNow(redis, known, callerId);
  const ruleOf = async ({ principal: { id }, shared = standard }: Omit<Looking, 'filter'>) =>
    sharingRule(id, shared, shared === 'own' ? NO_LISTS : (await read(id)).lists);
  return {
    standard,
    within: (looking, run) => within(known, read, { shared: standard, ...present(looking) }, run),
    filterOf: async (looking) => bothFilters(looking.filter, await ruleOf(looking)),
    predicateOf: async (looking) => {
      const rule = await ruleOf(looking);
      return (record) => canFind(looking.principal, record, rule);
    },
    read: async (callerId) => (await read(callerId)).lists,
    change: async (callerId, change) => {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const { lists: before, revision } = await read(callerId);
        const lists = change(before);
        if (lists === before || (await write(redis, callerId, { lists, revision }))) return lists;
      }
      throw new TooManyError('Too many changes of these lists are under way', { retryAfterSeconds: 1 });
    },
  };
}

/** Leaves out undefined fields, so that another value can stand for them. */
const present = ({ principal, shared, filter }: Looking) => ({
  principal,
  filter,
  ...(shared && { shared }),
});

async function within<Result>(
  known: KnownLists,
  read: (callerId: string) => Promise<Sharing>,
  { principal, shared, filter }: Required<Looking> & { readonly shared: Shared },
  run: (view: View) => Promise<Result>,
): Promise<Result> {
  const { id: callerId } = principal;
  if (shared === 'own')
    return run({ filter: bothFilters(filter, sharingRule(callerId, shared, NO_LISTS)), guard: null });
  for (let sharing = known.get(callerId) ?? NOTHING; ;) {
    const guard = createGuard(callerId, sharing.revision);
    const outcome = await settle(() =>
      run({ filter: bothFilters(filter, sharingRule(callerId, shared, sharing.lists)), guard }),
    );
    if (outcome && guard.isConfirmed) return outcome.result;
    // Nothing was read that could have told.
    const now = await read(callerId);
    if (outcome && now.revision === sharing.revision) return outcome.result;
    sharing = now;
  }
}

/** Null where the lists had changed. */
async function settle<Result>(run: () => Promise<Result>): Promise<{ readonly result: Result } | null> {
  try {
    return { result: await run() };
  } catch (error) {
    if (error instanceof SharingChangedError) return null;
    throw error;
  }
}

async function readNow(redis: Pick<Redis, 'hmGet'>, known: KnownLists, callerId: string): Promise<Sharing> {
  const [revision, json] = await redis.hmGet(keys.sharing(callerId), ['revision', 'json']);
  const sharing = revision && json ? { revision, lists: listsSchema.parse(JSON.parse(json)) } : NOTHING;
  known.put(callerId, sharing);
  return sharing;
}

async function write(
  redis: Pick<Redis, 'eval'>,
  callerId: string,
  { lists, revision }: Sharing,
): Promise<boolean> {
  const isEmpty = Object.values(lists).every(({ length }: readonly string[]) => length === 0);
  const next = isEmpty ? { next: '', json: '' } : { next: randomUUID(), json: JSON.stringify(lists) };
  const call = { keys: { sharing: keys.sharing(callerId) }, args: { revision, ...next } };
  return (await script.run(redis, call)) === 1;
}

const script = declareScript({
  keys: { sharing: 'key' },
  args: { revision: 'text', next: 'text', json: 'text' },
}).lua<number>(`
if (redis.call('HGET', sharing, 'revision') or '') ~= revision then return 0 end
if next == '' then redis.call('DEL', sharing)
else redis.call('HSET', sharing, 'revision', next, 'json', json) end
return 1
`);

/** Ids that are remembered of all callers together, which take some 100 bytes each. */
const MAX_KNOWN_IDS = 100_000;

/** The lists of recent callers who have any. Most callers have none and take no room. */
interface KnownLists {
  get(callerId: string): Sharing | undefined;
  put(callerId: string, sharing: Sharing): void;
}

export function createKnownLists(maxIds = MAX_KNOWN_IDS): KnownLists {
  /** In the order in which they were read, the oldest first. */
  const known = new Map<string, Sharing>();
  let ids = 0;
  const forget = (callerId: string) => {
    const former = known.get(callerId);
    if (!former) return;
    ids -= sizeOf(former);
    known.delete(callerId);
  };
  return {
    get: (callerId) => known.get(callerId),
    put: (callerId, sharing) => {
      forget(callerId);
      if (sharing.revision === '') return;
      known.set(callerId, sharing);
      ids += sizeOf(sharing);
      for (const oldest of known.keys()) {
        if (ids <= maxIds) break;
        forget(oldest);
      }
    },
  };
}

/** One more for the entry itself. */
const sizeOf = ({ lists: { blockedOwners, acceptedOwners, acceptedDocuments } }: Sharing): number =>
  1 + blockedOwners.length + acceptedOwners.length + acceptedDocuments.length;

/**
 * The revision of the sharing lists that a search was made by. The step that reads its hits compares it with the present
 * one, so that a search need not ask for it first; see `Confirmation`, which does the same for the data.
 */
export interface SharingGuard {
  readonly key: string;
  readonly revision: string;
  readonly isConfirmed: boolean;
  confirm(): void;
}

/** The caller has other lists by now. */
export class SharingChangedError extends Error {
  override readonly name = 'SharingChangedError';
}

export function createGuard(callerId: string, revision: string): SharingGuard {
  let isConfirmed = false;
  return {
    key: keys.sharing(callerId),
    revision,
    get isConfirmed() {
      return isConfirmed;
    },
    confirm: () => {
      isConfirmed = true;
    },
  };
}

/** The key and the argument for `is_same_sharing`; without a guard, some key that is not read. */
export const guardKey = (guard: SharingGuard | null): string => guard?.key ?? keys.epoch;
export const guardArgument = (guard: SharingGuard | null): string => (guard ? `=${guard.revision}` : '');

/** A Lua function that tells whether the lists of a caller are still in the state that a search was made by. */
export const IS_SAME_SHARING = `
local function is_same_sharing(key, revision)
  return revision == '' or '=' .. (redis.call('HGET', key, 'revision') or '') == revision
end`;
