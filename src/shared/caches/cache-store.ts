import { ANSWER } from '../documents/commit/answers.js';
import { ConflictError, MalformedRecordError } from '../errors.js';
import {
  CHECK_RESERVATION,
  MARK_RESERVATION,
  reservationFields,
  reservationKey,
  UnderWayError,
  type Reservation,
} from '../idempotency/reservation.js';
import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';
import { declareScript } from '../redis/script.js';
import type { UsageEvent } from '../usage/usage.js';
import { parseCache, readCacheFields, type CacheRecord, type OnMalformedCache } from './cache-record.js';

/** Names that a cache can have; each owner has their own names. */
export const CACHE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export interface CacheChange {
  /** Null removes the cache. */
  readonly cache: CacheRecord | null;
  readonly usage: readonly UsageEvent[];
  /** The `Idempotency-Key` that the change is made for. It is refused when another run has taken that over. */
  readonly reservation?: Reservation | undefined;
}

/** Computes the change of a cache, which is null when there is none yet. A null result changes nothing. */
export type CacheTransition = (cache: CacheRecord | null) => CacheChange | null;

/** The script's answer when the owner has as many caches as allowed. */
const TOO_MANY = -1;
const MAX_OF_OWNER = 100;

export type CacheStore = ReturnType<typeof createCacheStore>;

/** @param onMalformed is called for each cache that `list` leaves out, since its record cannot be read */
export function createCacheStore(redis: Redis, onMalformed: OnMalformedCache = refuse) {
  return {
    read: (ownerId: string, name: string) => readCache(redis, ownerId, name),

    /** Reads the revision alone, which every change raises; null when there is no such cache. */
    readRevision: async (ownerId: string, name: string): Promise<number | null> => {
      const revision = await redis.hGet(keys.cache(ownerId, name), 'revision');
      return revision === null ? null : Number(revision);
    },

    /** Makes a function that notes how much of a build is done, at most once a second. It is shown while the build goes on. */
    noteProgress: (build: string) => createNoteProgress(redis, build),

    /** The share of a build that is done; null where none was noted. */
    readProgress: async (build: string): Promise<number | null> => {
      const share = await redis.get(keys.cacheProgress(build));
      return share === null ? null : Number(share);
    },

    /** The caches of an owner by name, read one after the other, since each may name 100,000 documents. */
    list: (ownerId: string): AsyncGenerator<CacheRecord> => listCaches(redis, ownerId, onMalformed),

    /** Applies a transition atomically, and again to the newer state when another process came first. */
    update: async (ownerId: string, name: string, transition: CacheTransition) => {
      if (!CACHE_NAME.test(name)) throw new Error('a cache cannot have this name');
      for (;;) {
        const cache = await readCache(redis, ownerId, name);
        const change = transition(cache);
        if (!change) return { cache, changed: false };
        const next = change.cache && { ...change.cache, revision: revisionOf(cache) + 1 };
        const done = await commitCache(redis, { ownerId, name }, { ...change, before: cache, cache: next });
        if (done === TOO_MANY) throw tooManyCaches();
        if (done === ANSWER.lostReservation) throw new UnderWayError();
        if (done === ANSWER.written) return { cache: next, changed: true };
      }
    },

    /** Removes a cache for which `read` has thrown a MalformedRecordError, so that no transition can. */
    removeMalformed: (ownerId: string, name: string): Promise<void> =>
      removeMalformed(redis, { ownerId, name }),

    /** A page of the keys of caches whose build was asked for before a time in ms. */
    building: (before: number, page: { offset: number; count: number }): Promise<string[]> =>
      redis.zRange(keys.cachesBuilding, '-inf', before, { BY: 'SCORE', LIMIT: page }),

    /** Reads a cache that `building` found; null when it does not exist any more. */
    readBuilding: (key: string) => readBuilding(redis, key),
  };
}

const refuse: OnMalformedCache = (_key, error) => {
  throw error;
};

const PROGRESS_MILLISECONDS = 1_000;
const PROGRESS_EXPIRY_SECONDS = 600;

function createNoteProgress(redis: Redis, build: string): (share: number) => void {
  let nextAt = 0;
  return (share) => {
    if (Date.now() < nextAt) return;
    nextAt = Date.now() + PROGRESS_MILLISECONDS;
    // The progress only informs: a lost one is followed by another.
    redis
      .set(keys.cacheProgress(build), share.toFixed(3), { EX: PROGRESS_EXPIRY_SECONDS })
      .catch(() => undefined);
  };
}

async function readCache(redis: Redis, ownerId: string, name: string): Promise<CacheRecord | null> {
  // Any name of a request comes here. One that no cache can have is unknown.
  if (!CACHE_NAME.test(name)) return null;
  return parseCache(await readCacheFields(redis, keys.cache(ownerId, name)));
}

async function* listCaches(
  redis: Redis,
  ownerId: string,
  onMalformed: OnMalformedCache,
): AsyncGenerator<CacheRecord> {
  for (const name of (await redis.sMembers(keys.caches(ownerId))).sort()) {
    try {
      const cache = await readCache(redis, ownerId, name);
      if (cache) yield cache;
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      onMalformed(keys.cache(ownerId, name), error);
    }
  }
}

async function readBuilding(redis: Redis, key: string): Promise<CacheRecord | null> {
  const cache = parseCache(await readCacheFields(redis, key));
  if (!cache) {
    await forgetScript.run(redis, { keys: { cache: key, building: keys.cachesBuilding }, args: {} });
    return null;
  }
  if (keys.cache(cache.ownerId, cache.name) === key) return cache;
  // No name leads to this cache: its key was made before the parts of keys were escaped.
  await redis.zRem(keys.cachesBuilding, key);
  return null;
}

/** A cache that does not exist yet has revision 0. */
const revisionOf = (cache: CacheRecord | null): number => (cache ? cache.revision : 0);

/** @returns one of the answers that records have, or `TOO_MANY` */
function commitCache(
  redis: Redis,
  { ownerId, name }: { ownerId: string; name: string },
  { before, cache, usage, reservation }: CacheChange & { readonly before: CacheRecord | null },
): Promise<number> {
  return commitScript.run(redis, {
    keys: {
      cache: keys.cache(ownerId, name),
      names: keys.caches(ownerId),
      building: keys.cachesBuilding,
      dirty: keys.usageDirty,
      pending: keys.usagePending(ownerId),
      reservation: reservationKey(reservation),
    },
    args: {
      expected: before?.revision ?? null,
      revision: cache?.revision ?? null,
      json: cache ? JSON.stringify(cache) : null,
      name,
      since: cache?.building ? Date.now() : null,
      channel: keys.changed,
      user: toMember(ownerId),
      reservationFields: JSON.stringify(reservationFields(reservation)),
      events: usage.map((event) => JSON.stringify(event)),
    },
  });
}

const tooManyCaches = () =>
  new ConflictError(`You have ${String(MAX_OF_OWNER)} caches already: delete one first`);

const commitScript = declareScript({
  keys: { cache: 'key', names: 'key', building: 'key', dirty: 'key', pending: 'key', reservation: 'key' },
  args: {
    expected: 'optional',
    revision: 'optional',
    json: 'optional',
    name: 'text',
    since: 'optional',
    channel: 'text',
    user: 'text',
    reservationFields: 'text',
    events: 'list',
  },
}).lua<number>(`
local change = cjson.decode(reservationFields)
${CHECK_RESERVATION}
if (redis.call('HGET', cache, 'revision') or '') ~= expected then return ${String(ANSWER.changedMeanwhile)} end
if json ~= '' and expected == '' and redis.call('SCARD', names) >= ${String(MAX_OF_OWNER)} then return ${String(TOO_MANY)} end
if json == '' then
  redis.call('DEL', cache)
  redis.call('SREM', names, name)
else
  redis.call('HSET', cache, 'revision', revision, 'json', json)
  redis.call('SADD', names, name)
end
if since ~= '' then redis.call('ZADD', building, since, cache) else redis.call('ZREM', building, cache) end
for _, event in ipairs(events) do
  redis.call('RPUSH', pending, event)
  redis.call('SADD', dirty, user)
end
${MARK_RESERVATION}
redis.call('PUBLISH', channel, cache)
return ${String(ANSWER.written)}
`);

/** Takes a cache that does not exist off the list of builds. */
const forgetScript = declareScript({ keys: { cache: 'key', building: 'key' }, args: {} }).lua<number>(`
if redis.call('EXISTS', cache) == 1 then return 0 end
return redis.call('ZREM', building, cache)
`);

/**
 * Removes a cache whatever its record holds. Nobody can tell the operation that it was being built for, so nothing is
 * counted.
 */
async function removeMalformed(
  redis: Redis,
  { ownerId, name }: { readonly ownerId: string; readonly name: string },
): Promise<void> {
  const key = keys.cache(ownerId, name);
  await redis
    .multi()
    .del(key)
    .sRem(keys.caches(ownerId), name)
    .zRem(keys.cachesBuilding, key)
    .publish(keys.changed, key)
    .exec();
}
