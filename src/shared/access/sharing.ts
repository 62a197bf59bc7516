import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { MatchableDocument } from '../document.js';
import { TooManyError } from '../errors.js';
import { matches } from '../filters/match.js';
import type { Filter } from '../filters/parse.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { createKnownLists, type KnownLists } from './known-lists.js';
import { both, NO_LISTS, sharingRule, type Shared, type Sharing, type SharingLists } from './sharing-rule.js';
import { createGuard, SharingChangedError, type SharingGuard } from './sharing-guard.js';

/** A caller who looks for documents, and their choice about documents of others; the setting holds where they make none. */
export interface Looking {
  readonly callerId: string;
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
  const ruleOf = async ({ callerId, shared = standard }: Omit<Looking, 'filter'>) =>
    sharingRule(callerId, shared, shared === 'own' ? NO_LISTS : (await read(callerId)).lists);
  return {
    standard,
    within: (looking, run) => within(known, read, { shared: standard, ...present(looking) }, run),
    filterOf: async (looking) => both(looking.filter, await ruleOf(looking)),
    predicateOf: async (looking) => {
      const rule = await ruleOf(looking);
      return (record) => matches(record, looking.callerId, rule);
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
const present = ({ callerId, shared, filter }: Looking) => ({ callerId, filter, ...(shared && { shared }) });

async function within<Result>(
  known: KnownLists,
  read: (callerId: string) => Promise<Sharing>,
  { callerId, shared, filter }: Required<Looking> & { readonly shared: Shared },
  run: (view: View) => Promise<Result>,
): Promise<Result> {
  if (shared === 'own')
    return run({ filter: both(filter, sharingRule(callerId, shared, NO_LISTS)), guard: null });
  for (let sharing = known.get(callerId) ?? NOTHING; ;) {
    const guard = createGuard(callerId, sharing.revision);
    const outcome = await settle(() =>
      run({ filter: both(filter, sharingRule(callerId, shared, sharing.lists)), guard }),
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
  const next = isEmpty ? ['', ''] : [randomUUID(), JSON.stringify(lists)];
  return (await script.run(redis, { keys: [keys.sharing(callerId)], arguments: [revision, ...next] })) === 1;
}

const script = defineScript<number>(`
if (redis.call('HGET', KEYS[1], 'revision') or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1])
else redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'json', ARGV[3]) end
return 1
`);
