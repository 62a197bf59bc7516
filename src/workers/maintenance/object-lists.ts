import type { Records } from '../../shared/documents/records.js';
import { defineScript, SERVER_TIME, type Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import { documentOfSource } from '../../shared/storage/object-key.js';

/** The time for which a draft is kept, which is longer than any upload may take. */
const DRAFT_MILLISECONDS = 2 * 86_400_000;

/** The time for which an object without a record is kept while the disk is nearly full. */
const SHORT_MILLISECONDS = 60_000;

/** The lists of objects without a record: objects that a record once referred to, and drafts, to which no record ever did. */
export type ObjectList = 'unreferenced' | 'drafts';

export interface ObjectLists {
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
      return dueScript.run(redis, { keys: [key], arguments: [String(waited), String(limit)] });
    },
    isReferred: (key) => isReferred(redis, records, key),
    forget: async (list, key) => {
      await redis.zRem(places[list].key, key);
    },
    postpone: async (list, key, milliseconds) => {
      await postponeScript.run(redis, {
        keys: [places[list].key],
        arguments: [key, String(places[list].wait - milliseconds)],
      });
    },
    adoptOld: async (limit) => {
      const adopted = await adoptScript.run(redis, {
        keys: [keys.garbageObjects, keys.unreferencedObjects],
        arguments: [String(limit)],
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

const dueScript = defineScript<string[]>(`${SERVER_TIME}
local before = string.format('%d', serverTime() - tonumber(ARGV[1]))
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', before, 'LIMIT', 0, ARGV[2])
`);

const postponeScript = defineScript<number>(
  `${SERVER_TIME}
return redis.call('ZADD', KEYS[1], 'XX', string.format('%d', serverTime() - tonumber(ARGV[2])), ARGV[1])
`,
  { evenWhenFull: true },
);

const adoptScript = defineScript<number>(`${SERVER_TIME}
local now = string.format('%d', serverTime())
local found = redis.call('SPOP', KEYS[1], ARGV[1])
for _, object in ipairs(found) do
  redis.call('ZADD', KEYS[2], 'NX', now, object)
end
return #found
`);
