import { at, addTo } from '../shared/at.js';
import type { Redis } from '../shared/redis/client.js';
import type { WorkOffSet } from './work-off-set.js';
import { fromMember, keys } from '../shared/redis/keys.js';
import { declareScript, evenWhenFull } from '../shared/redis/script.js';
import {
  MOVED_FIELD,
  readUsageFromStart,
  USAGE_PAGE,
  parseUsageEvent,
  type UsageEvent,
} from '../shared/usage/usage.js';

export interface UsageLimits {
  readonly keepDays: number;
  readonly keepRecords: number;
}

/** Moves some pending events of every user to counters and records; answers how many. */
export type AggregateUsage = (limits: UsageLimits) => Promise<number>;

/** Steps for one user in a run. A user with more waiting events stays dirty. */
const MAX_STEPS = 10;

/** The bytes of events in one step, so that no step holds Redis up. */
const MAX_BYTES = 256 * 1024;

/**
 * Moves events in bounded steps. Events are read here, and a script moves them unless another process did meanwhile. An
 * entry that is no event is moved to the records as well, where readers leave it out, and is counted only as a failure.
 */
export function createAggregateUsage(redis: Redis, workOffSet: WorkOffSet): AggregateUsage {
  return async (limits) => {
    let moved = 0;
    const work = async (member: string) => {
      const userId = fromMember(member);
      let unreadable = 0;
      for (let step = 0; step < MAX_STEPS; step += 1) {
        const done = await moveSome(redis, { member, userId, limits });
        moved += done.moved;
        unreadable += done.unreadable;
        if (done.moved === 0) break;
      }
      await forgetOld(redis, userId, limits);
      if (unreadable > 0) throw new UnreadableUsageError(unreadable);
    };
    for await (const members of redis.sScanIterator(keys.usageDirty, { COUNT: 500 })) {
      await workOffSet('usage', members, work);
    }
    return moved;
  };
}

class UnreadableUsageError extends Error {
  override readonly name = 'UnreadableUsageError';
  constructor(events: number) {
    super(`${String(events)} usage events cannot be read`);
  }
}

interface User {
  readonly member: string;
  readonly userId: string;
  readonly limits: UsageLimits;
}

async function moveSome(redis: Redis, { member, userId, limits }: User) {
  const { moved, events } = await readUsageFromStart(redis, userId);
  const texts = firstOf(events);
  const parsed = texts.map(parseUsageEvent);
  const read = parsed.filter((event) => event !== null);
  const done = await moveScript.run(redis, {
    keys: {
      pending: keys.usagePending(userId),
      counters: keys.usageCounters(userId),
      records: keys.usageRecords(userId),
      dirty: keys.usageDirty,
      totals: keys.usageTotals,
    },
    args: {
      user: member,
      moved,
      count: texts.length,
      // Without events nothing is moved, and the script does not compare the last one.
      last: texts.at(-1) ?? null,
      // The records expire by themselves, since a user without requests never becomes dirty again.
      keepRecords: limits.keepRecords,
      keepSeconds: limits.keepDays * 86_400,
      ...counted(read),
    },
  });
  return { moved: done, unreadable: done > 0 ? texts.length - read.length : 0 };
}

/** Returns the events that fit the bytes of a step, at least one. */
function firstOf(events: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes = 0;
  for (const text of events) {
    bytes += Buffer.byteLength(text);
    if (texts.length > 0 && bytes > MAX_BYTES) break;
    texts.push(text);
  }
  return texts;
}

/** Returns each counter with its increase, and the same for the totals of all users. */
function counted(events: readonly UsageEvent[]) {
  const counters = new Map<string, number>();
  const totals = new Map<string, number>();
  for (const { operation, status } of events) {
    if (status === 'success') addTo(counters, operation);
    addTo(totals, `${operation}|${status}`);
  }
  const flat = (counts: Map<string, number>) => [...counts].flatMap(([field, by]) => [field, String(by)]);
  return { more: flat(counters), moreOfAll: flat(totals) };
}

/** Removes records that are too old, a page in each step. */
async function forgetOld(redis: Redis, userId: string, { keepDays }: UsageLimits): Promise<void> {
  const oldest = new Date(Date.now() - keepDays * 86_400_000).toISOString();
  const [first] = await redis.lRange(keys.usageRecords(userId), 0, 0);
  if (first === undefined) return;
  const event = parseUsageEvent(first);
  if (event && event.at >= oldest) return;
  for (;;) {
    const records = await redis.lRange(keys.usageRecords(userId), 0, USAGE_PAGE - 1);
    const old = records.findLastIndex((text) => (parseUsageEvent(text)?.at ?? oldest) < oldest) + 1;
    if (old === 0) return;
    const call = { keys: { records: keys.usageRecords(userId) }, args: { first: at(records, 0), old } };
    if ((await forgetScript.run(redis, call)) === 0 || old < records.length) return;
  }
}

const moveScript = declareScript({
  keys: { pending: 'key', counters: 'key', records: 'key', dirty: 'key', totals: 'key' },
  args: {
    user: 'text',
    moved: 'text',
    count: 'number',
    last: 'optional',
    keepRecords: 'number',
    keepSeconds: 'text',
    more: 'list',
    moreOfAll: 'list',
  },
}).lua<number>(`
${evenWhenFull('set', 'dirty')}
if (redis.call('HGET', counters, '${MOVED_FIELD}') or '0') ~= moved then return 0 end
if count > 0 then
  if redis.call('LINDEX', pending, count - 1) ~= last then return 0 end
  local events = redis.call('LRANGE', pending, 0, count - 1)
  redis.call('RPUSH', records, unpack(events))
  redis.call('LTRIM', pending, count, -1)
  redis.call('LTRIM', records, -keepRecords, -1)
  redis.call('EXPIRE', records, keepSeconds)
  redis.call('HINCRBY', counters, '${MOVED_FIELD}', count)
  for i = 1, #more, 2 do redis.call('HINCRBY', counters, more[i], more[i + 1]) end
  for i = 1, #moreOfAll, 2 do redis.call('HINCRBY', totals, moreOfAll[i], moreOfAll[i + 1]) end
end
if redis.call('EXISTS', pending) == 0 then redis.call('SREM', dirty, user) end
return count
`);

const forgetScript = declareScript({
  keys: { records: 'key' },
  args: { first: 'text', old: 'text' },
}).lua<number>(`
if redis.call('LINDEX', records, 0) ~= first then return 0 end
redis.call('LTRIM', records, old, -1)
return 1
`);
