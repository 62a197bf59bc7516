import type { Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';
import { declareScript } from '../redis/script.js';

/** The time for which a deletion stays in the change log, and nothing comes back under the id of its document. */
const TOMBSTONE_MS = 86_400_000;
/**
 * So many deletions, some 300 bytes each, stay for that time. When there are more, the oldest leave earlier, because whoever
 * creates and deletes documents without end would fill Redis with them.
 */
const MAX_TOMBSTONES = 50_000;
/** Each deletion stays for this long, in which a request that was broken off is repeated and a mirror reads the change log. */
const MIN_TOMBSTONE_MS = 120_000;
const PAGE = 1_000;

/** Tells whether a document of this id was deleted not long ago. */
export const wasDeleted = async (redis: Redis, documentId: string): Promise<boolean> =>
  (await redis.zScore(keys.tombstones, documentId)) !== null;

/**
 * Removes a page of the deletions whose time is over from the change log. A mirror that has not read them sees by
 * `keys.forgotten` that it has to look which of its documents are left.
 * @returns true if there may be more
 */
export async function forgetDeletions(redis: Redis, now: number): Promise<boolean> {
  const forgotten = await forgetScript.run(redis, {
    keys: { changes: keys.changes, tombstones: keys.tombstones, forgotten: keys.forgotten },
    args: {
      expired: now - TOMBSTONE_MS,
      old: now - MIN_TOMBSTONE_MS,
      most: MAX_TOMBSTONES,
      page: PAGE,
    },
  });
  return forgotten === PAGE;
}

const forgetScript = declareScript({
  keys: { changes: 'key', tombstones: 'key', forgotten: 'key' },
  args: { expired: 'number', old: 'number', most: 'number', page: 'number' },
}).lua<number>(`
local surplus = redis.call('ZCARD', tombstones) - most
local rows = redis.call('ZRANGE', tombstones, 0, page - 1, 'WITHSCORES')
local count, latest = 0, tonumber(redis.call('GET', forgotten) or '0')
for i = 1, #rows, 2 do
  local id, at = rows[i], tonumber(rows[i + 1])
  if at > expired and (at > old or count >= surplus) then break end
  latest = math.max(latest, tonumber(redis.call('ZSCORE', changes, id) or '0'))
  redis.call('ZREM', changes, id)
  redis.call('ZREM', tombstones, id)
  count = count + 1
end
if count > 0 then redis.call('SET', forgotten, string.format('%d', latest)) end
return count
`);
