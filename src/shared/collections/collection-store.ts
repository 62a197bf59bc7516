import { setTimeout as pause } from 'node:timers/promises';
import type { RedisConnection } from 'redis-om';
import { readersOf } from '../access/access.js';
import { ANSWER } from '../documents/commit/answers.js';
import { ConflictError, MalformedRecordError, TooManyError } from '../errors.js';
import {
  CHECK_RESERVATION,
  MARK_RESERVATION,
  reservationFields,
  reservationKey,
  UnderWayError,
  type Reservation,
} from '../idempotency/reservation.js';
import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript, evenWhenFull } from '../redis/script.js';
import { loadOnce } from '../tools/coalesce-runs.js';
import {
  entityOf,
  expiryOf,
  isExpired,
  recordOf,
  type CollectionEntity,
  type CollectionRecord,
} from './collection-record.js';

/** The most collections of an owner. */
export const MAX_OWN_COLLECTIONS = 10_000;
/** The number of changes by others in between, after which the caller is told to try again. */
const MAX_TRIES = 50;
/** Unequal pauses, which become longer, keep changes that come together from hindering each other. */
const PAUSE_MILLISECONDS = 5;

/** A place in a list of collections: the time of creation of one, in 13 digits, and its id. */
export type CollectionPlace = string;

const TIME_DIGITS = 13;
const placeOf = ({ createdAtMs, id }: Pick<CollectionRecord, 'createdAtMs' | 'id'>): CollectionPlace =>
  `${String(createdAtMs).padStart(TIME_DIGITS, '0')}${id}`;
export const idOfPlace = (place: CollectionPlace): string => place.slice(TIME_DIGITS);

export interface CollectionPage {
  /** The list goes on behind this place; null at its beginning. */
  readonly after: CollectionPlace | null;
  readonly limit: number;
  /** True for the newest first. */
  readonly isDescending: boolean;
}

/** The next state of a collection; null where nothing changes. */
export type CollectionTransition = (record: CollectionRecord) => CollectionRecord | null;

export type CollectionStore = ReturnType<typeof createCollectionStore>;

/** @param now the time in ms since 1970, by which collections expire */
export function createCollectionStore(
  redis: Redis,
  { now = Date.now }: { readonly now?: () => number } = {},
) {
  const stored = async (id: string) => readStored(redis, id);
  const read = async (id: string): Promise<CollectionRecord | null> => {
    const record = await stored(id);
    return record && !isExpired(record, now()) ? record : null;
  };
  return {
    now,
    /** Null where there is none, or where it has expired. */
    read,

    /** @throws ConflictError for an owner who has as many as allowed, UnderWayError */
    create: async (record: CollectionRecord, reservation?: Reservation): Promise<void> => {
      const done = await write(redis, { before: null, after: record, reservation });
      if (done === ANSWER.lostReservation) throw new UnderWayError();
      if (done === TOO_MANY) throw new ConflictError(tooMany('You have'));
      if (done !== ANSWER.written) throw new Error('a collection of this id is there already');
    },

    /** Changes a collection, again on the newer state where others came first; null where there is none. @throws TooManyError */
    update: (id: string, transition: CollectionTransition) => update(redis, read, { id, transition }),

    /** Removes a collection, and nothing else: the ids of collections that are gone mean nothing in records of documents. */
    remove: async (id: string): Promise<void> => {
      for (let before = await stored(id); before; before = await stored(id))
        if ((await write(redis, { before, after: null })) === ANSWER.written) return;
    },

    /** Places of the collections whose lists name a caller, by the time of their creation. */
    list: (callerId: string, page: CollectionPage): Promise<CollectionPlace[]> => list(redis, callerId, page),

    /** Tells of each id whether there is such a collection. */
    exist: async (ids: readonly string[]): Promise<boolean[]> => {
      const found = await Promise.all(ids.map((id) => redis.exists(keys.collection(id))));
      return found.map((count) => count === 1);
    },

    ownedBy: (ownerId: string): Promise<string[]> => redis.sMembers(keys.ownCollections(ownerId)),

    /** Removes up to `count` expired collections. @returns the number of those that were looked at */
    removeExpired: (count: number): Promise<number> => removeExpired(redis, { now: now(), count }),
  };
}

async function update(
  redis: Redis,
  read: (id: string) => Promise<CollectionRecord | null>,
  { id, transition }: { readonly id: string; readonly transition: CollectionTransition },
): Promise<CollectionRecord | null> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const before = await read(id);
    const after = before && transition(before);
    if (!before || !after) return before;
    const next = { ...after, revision: before.revision + 1 };
    const done = await write(redis, { before, after: next });
    if (done === TOO_MANY) throw new ConflictError(tooMany(`${after.ownerId} has`));
    if (done === ANSWER.written) return next;
    await pause(Math.random() * PAUSE_MILLISECONDS * tries);
  }
  throw new TooManyError('Too many changes of this collection are under way', { retryAfterSeconds: 1 });
}

const tooMany = (whose: string) =>
  `${whose} ${String(MAX_OWN_COLLECTIONS)} collections already: delete one first`;

function list(
  redis: Redis,
  callerId: string,
  { after, limit, isDescending }: CollectionPage,
): Promise<CollectionPlace[]> {
  const behind = after === null ? null : `(${after}`;
  const options = { BY: 'LEX', LIMIT: { offset: 0, count: limit } } as const;
  return isDescending
    ? redis.zRange(keys.collections(callerId), behind ?? '+', '-', { ...options, REV: true })
    : redis.zRange(keys.collections(callerId), behind ?? '-', '+', options);
}

async function removeExpired(
  redis: Redis,
  { now, count }: { readonly now: number; readonly count: number },
): Promise<number> {
  const due = await redis.zRange(keys.collectionExpiries, '-inf', now, {
    BY: 'SCORE',
    LIMIT: { offset: 0, count },
  });
  for (const id of due) {
    const record = await readStored(redis, id).catch(nullIfMalformed);
    if (!record) await redis.zRem(keys.collectionExpiries, id);
    // One that was used meanwhile has another revision, and stays.
    else if (isExpired(record, now)) await write(redis, { before: record, after: null });
  }
  return due.length;
}

function nullIfMalformed(error: unknown): null {
  if (error instanceof MalformedRecordError) return null;
  throw error;
}

/** Loaded at the first collection: a service without collections does not pay for it (8 ms of the processor, 0.5 MB). */
const loadRepository = loadOnce(async () => {
  const { Repository, Schema } = await import('redis-om');
  const schema = new Schema<CollectionEntity>(
    keys.collectionPrefix,
    {
      ownerId: { type: 'string' },
      name: { type: 'string' },
      description: { type: 'string' },
      access: { type: 'string' },
      metadata: { type: 'string' },
      filter: { type: 'string' },
      createdAtMs: { type: 'number' },
      updatedAtMs: { type: 'number' },
      lastActiveAtMs: { type: 'number' },
      expiresAfterDays: { type: 'number' },
      revision: { type: 'number' },
    },
    { dataStructure: 'HASH' },
  );
  return (connection: unknown) =>
    // @NOTE the repository of hashes asks a connection for no more than `connectionOf` has.
    new Repository<CollectionEntity>(schema, connection as RedisConnection);
});

type Fields = Readonly<Record<string, string>>;

/**
 * The commands that the repository uses for hashes. It saves by an unconditional transaction, in whose place a script of ours
 * writes the same fields.
 */
const connectionOf = (redis: Redis, save: (fields: Fields) => Promise<unknown>) => ({
  hGetAll: (key: string) => redis.hGetAll(key),
  multi: () => ({
    unlink: () => ({ hSet: (_key: string, fields: Fields) => ({ exec: () => save(fields) }) }),
  }),
});

/** @throws MalformedRecordError */
async function readStored(redis: Redis, id: string): Promise<CollectionRecord | null> {
  const repositoryOn = await loadRepository();
  const connection = connectionOf(redis, () => Promise.reject(new Error('nothing is saved here')));
  return recordOf(id, await repositoryOn(connection).fetch(id));
}

interface Write {
  readonly before: CollectionRecord | null;
  /** Null removes it. */
  readonly after: CollectionRecord | null;
  readonly reservation?: Reservation | undefined;
}

/** The script's answer when the owner has as many collections as allowed. */
const TOO_MANY = -1;

/** @returns one of the answers that records have, or `TOO_MANY` */
async function write(redis: Redis, { before, after, reservation }: Write): Promise<number> {
  const commit = (fields: Fields) => commitWrite(redis, { before, after, reservation, fields });
  if (!after) return commit({});
  const repositoryOn = await loadRepository();
  const answers: number[] = [];
  const connection = connectionOf(redis, async (fields) => answers.push(await commit(fields)));
  await repositoryOn(connection).save(after.id, entityOf(after));
  return answers[0] ?? ANSWER.changedMeanwhile;
}

function commitWrite(
  redis: Redis,
  { before, after, reservation, fields }: Write & { readonly fields: Fields },
): Promise<number> {
  const known = after ?? before;
  if (!known) throw new Error('a change of no collection');
  const named = after ? readersOf(after) : new Set<string>();
  const left = Array.from(before ? readersOf(before) : []).filter((id) => !named.has(id));
  return commitScript.run(redis, {
    keys: {
      collection: keys.collection(known.id),
      own: keys.ownCollections(known.ownerId),
      formerOwn: keys.ownCollections(before?.ownerId ?? known.ownerId),
      expiries: keys.collectionExpiries,
      reservation: reservationKey(reservation),
      left: left.map(keys.collections),
      named: Array.from(named, keys.collections),
    },
    args: {
      id: known.id,
      member: placeOf(known),
      expected: before?.revision ?? null,
      expiry: after && expiryOf(after),
      reservationFields: JSON.stringify(reservationFields(reservation)),
      fields: Object.entries(fields).flat(),
    },
  });
}

const commitScript = declareScript({
  keys: {
    collection: 'key',
    own: 'key',
    formerOwn: 'key',
    expiries: 'key',
    reservation: 'key',
    left: 'keys',
    named: 'keys',
  },
  args: {
    id: 'text',
    member: 'text',
    expected: 'optional',
    expiry: 'optional',
    reservationFields: 'text',
    fields: 'list',
  },
}).lua<number>(`
local isRemoval = #fields == 0
if isRemoval then ${evenWhenFull('hash', 'collection')} end
local change = cjson.decode(reservationFields)
${CHECK_RESERVATION}
if (redis.call('HGET', collection, 'revision') or '') ~= expected then return ${String(ANSWER.changedMeanwhile)} end
if not isRemoval and redis.call('SISMEMBER', own, id) == 0 and redis.call('SCARD', own) >= ${String(MAX_OWN_COLLECTIONS)} then
  return ${String(TOO_MANY)}
end
redis.call('DEL', collection)
redis.call('SREM', formerOwn, id)
for _, key in ipairs(left) do redis.call('ZREM', key, member) end
if isRemoval then
  redis.call('ZREM', expiries, id)
  return ${String(ANSWER.written)}
end
redis.call('HSET', collection, unpack(fields))
redis.call('SADD', own, id)
for _, key in ipairs(named) do redis.call('ZADD', key, 0, member) end
if expiry == '' then redis.call('ZREM', expiries, id) else redis.call('ZADD', expiries, expiry, id) end
${MARK_RESERVATION}
return ${String(ANSWER.written)}
`);
