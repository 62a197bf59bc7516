import type { Records } from '../../shared/documents/records.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import { declareScript, evenWhenFull, SERVER_TIME } from '../../shared/redis/script.js';
import { documentOfSource } from '../../shared/storage/sources.js';

/** The maximum number of objects of each list in one run; the next run continues. */
const MAX_OBJECTS = 1_000;
const AT_ONCE = 8;
/** After this time a run begins no more removals, because the sweep has other tasks. */
const MAX_MILLISECONDS = 10_000;
/** An object that cannot be removed is tried again after this time, so that it does not hold up the others. */
const POSTPONED_MILLISECONDS = 60_000;
/** After this many failures without a success the storage is considered unavailable, and the run ends. */
const HOPELESS_FAILURES = 2 * AT_ONCE;

export interface Removal {
  readonly removed: number;
  /** Objects that a record still refers to. */
  readonly kept: number;
  readonly failed: number;
}

export type RemoveObjects = () => Promise<Removal>;

interface RemovalOptions {
  readonly objects: ObjectLists;
  readonly storage: Pick<ObjectStorage, 'remove'>;
  readonly logger: Logger;
}

/**
 * Removes source objects that have not been referenced for longer than they are kept. Each is checked again before, so that
 * an object that a record refers to stays. A failure is logged, and the object is tried again later.
 */
export function createRemoveUnreferencedObjects(parts: RemovalOptions): RemoveObjects {
  const { objects } = parts;
  return async () => {
    await objects.adoptOld(MAX_OBJECTS);
    const unreferenced = await removeDue(parts, 'unreferenced');
    const drafts = await removeDue(parts, 'drafts');
    return {
      removed: unreferenced.removed + drafts.removed,
      kept: unreferenced.kept + drafts.kept,
      failed: unreferenced.failed + drafts.failed,
    };
  };
}

async function removeDue({ objects, storage, logger }: RemovalOptions, list: ObjectList): Promise<Removal> {
  const end = performance.now() + MAX_MILLISECONDS;
  const due = await objects.due(list, MAX_OBJECTS);
  const counts = { removed: 0, kept: 0, failed: 0 };
  const removeOne = async (key: string) => {
    try {
      const isKept = await objects.isReferred(key);
      if (!isKept) await storage.remove(key);
      await objects.forget(list, key);
      counts[isKept ? 'kept' : 'removed'] += 1;
    } catch (error) {
      counts.failed += 1;
      logger.warn({ err: error, storageKey: key }, 'a source could not be removed yet');
      await objects.postpone(list, key, POSTPONED_MILLISECONDS);
    }
  };
  const isHopeless = () => counts.removed === 0 && counts.failed >= HOPELESS_FAILURES;
  for (let at = 0; at < due.length && performance.now() < end && !isHopeless(); at += AT_ONCE) {
    await Promise.all(due.slice(at, at + AT_ONCE).map(removeOne));
  }
  return counts;
}

/** The time for which a draft is kept, which is longer than any upload may take. */
const DRAFT_MILLISECONDS = 2 * 86_400_000;

/** The time for which an object without a record is kept while the disk is nearly full. */
const SHORT_MILLISECONDS = 60_000;

/** The lists of objects without a record: objects that a record once referred to, and drafts, to which no record ever did. */
type ObjectList = 'unreferenced' | 'drafts';

interface ObjectLists {
  /** Returns keys whose time has come, the longest waiting ones first. */
  due(list: ObjectList, limit: number): Promise<string[]>;
  /** Tells whether a record refers to the object after all, or it is the storage's marker. */
  isReferred(key: string): Promise<boolean>;
  /** Takes an object off its list, because it is gone or referred to. */
  forget(list: ObjectList, key: string): Promise<void>;
  /** Makes an object that could not be removed come up again later. */
  postpone(list: ObjectList, key: string, milliseconds: number): Promise<void>;
  /** Gives the present time to members that an earlier version noted without one; answers whether there may be more. */
  adoptOld(limit: number): Promise<boolean>;
}

interface ObjectListOptions {
  readonly redis: Redis;
  readonly records: Pick<Records, 'read'>;
  readonly keepMilliseconds: number;
  /** Tells that the disk of the objects is nearly full. They are then kept for a minute only. */
  readonly isDiskShort: () => Promise<boolean>;
}

/**
 * The lists of objects without a record. These objects are kept for a while, since a Redis that comes back without its last
 * seconds, or from a copy, may hold a record again that refers to one. All times are Redis' own.
 */
export function createObjectLists({
  redis,
  records,
  keepMilliseconds,
  isDiskShort,
}: ObjectListOptions): ObjectLists {
  const places = {
    unreferenced: { key: keys.unreferencedObjects, wait: keepMilliseconds },
    drafts: { key: keys.draftObjects, wait: Math.max(DRAFT_MILLISECONDS, keepMilliseconds) },
  };
  return {
    due: async (list, limit) => {
      const { key, wait } = places[list];
      const isShort = list === 'unreferenced' && (await isDiskShort());
      const waited = isShort ? Math.min(wait, SHORT_MILLISECONDS) : wait;
      return dueScript.run(redis, { keys: { objects: key }, args: { waited, limit } });
    },
    isReferred: (key) => isReferred(redis, records, key),
    forget: async (list, key) => {
      await redis.zRem(places[list].key, key);
    },
    postpone: async (list, key, milliseconds) => {
      await postponeScript.run(redis, {
        keys: { objects: places[list].key },
        args: { object: key, age: places[list].wait - milliseconds },
      });
    },
    adoptOld: async (limit) => {
      const adopted = await adoptScript.run(redis, {
        keys: { old: keys.garbageObjects, objects: keys.unreferencedObjects },
        args: { limit },
      });
      return adopted === limit;
    },
  };
}

async function isReferred(redis: Redis, records: Pick<Records, 'read'>, key: string): Promise<boolean> {
  const documentId = documentOfSource(key);
  if (documentId === null) return (await redis.get(keys.storageMarker)) === key;
  const record = await records.read(documentId);
  return record?.published?.storageKey === key || record?.pending?.storageKey === key;
}

const dueScript = declareScript({
  keys: { objects: 'key' },
  args: { waited: 'number', limit: 'text' },
}).lua<string[]>(`${SERVER_TIME}
local before = string.format('%d', serverTime() - waited)
return redis.call('ZRANGEBYSCORE', objects, '-inf', before, 'LIMIT', 0, limit)
`);

const postponeScript = declareScript({
  keys: { objects: 'key' },
  args: { object: 'text', age: 'number' },
}).lua<number>(`${SERVER_TIME}
${evenWhenFull('sortedSet', 'objects')}
return redis.call('ZADD', objects, 'XX', string.format('%d', serverTime() - age), object)
`);

const adoptScript = declareScript({
  keys: { old: 'key', objects: 'key' },
  args: { limit: 'text' },
}).lua<number>(`${SERVER_TIME}
local now = string.format('%d', serverTime())
local found = redis.call('SPOP', old, limit)
for _, object in ipairs(found) do
  redis.call('ZADD', objects, 'NX', now, object)
end
return #found
`);
