import { at } from '../at.js';
import { defineScript, type Redis } from '../redis/client.js';
import { keys } from '../redis/keys.js';

/*
 * A user's events are in two lists: events that wait come after events that were moved to the records. Each event has a
 * number, which stays the same when it is moved. The counter `moved` is the number of the first event that waits.
 */

/** Events that one step reads or moves. There are fewer when they are large, as in data of earlier versions. */
export const USAGE_PAGE = 200;
const ENOUGH_BYTES = 2 ** 20;

/** The field of a user's counters that holds `moved`, beside those of the operations. */
export const MOVED_FIELD = 'moved';

export interface UsagePage {
  /** The number of the first event. */
  readonly first: number;
  /** Newest first. */
  readonly events: readonly string[];
}

/** Reads the last events before a number, or the newest when it is null. */
export async function readUsagePage(redis: Redis, userId: string, before: number | null): Promise<UsagePage> {
  const [first, events] = await pageScript.run(redis, {
    keys: [keys.usagePending(userId), keys.usageRecords(userId), keys.usageCounters(userId)],
    arguments: [String(USAGE_PAGE), MOVED_FIELD, before === null ? '' : String(before), String(ENOUGH_BYTES)],
  });
  return { first: Number(first), events };
}

export interface WaitingUsage {
  /** The number of the first event that waits. It is higher than the wanted one when that event has been moved. */
  readonly moved: number;
  readonly events: readonly string[];
  readonly counters: Readonly<Record<string, string | undefined>>;
}

/** Reads a page of waiting events from a number on. Without a number it starts with the first, and reads the counters too. */
export async function readUsageFromStart(redis: Redis, userId: string, from?: number): Promise<WaitingUsage> {
  const [moved, events, fields] = await startScript.run(redis, {
    keys: [keys.usagePending(userId), keys.usageCounters(userId)],
    arguments: [
      String(USAGE_PAGE),
      MOVED_FIELD,
      from === undefined ? '' : String(from),
      String(ENOUGH_BYTES),
    ],
  });
  const counters: Record<string, string> = {};
  for (let i = 0; i + 1 < fields.length; i += 2) counters[at(fields, i)] = at(fields, i + 1);
  return { moved: Number(moved), events, counters };
}

const pageScript = defineScript<[first: string, events: string[]]>(`
local pending, records, counters, count = KEYS[1], KEYS[2], KEYS[3], tonumber(ARGV[1])
local moved = tonumber(redis.call('HGET', counters, ARGV[2]) or '0')
local oldest = moved - redis.call('LLEN', records)
local last = ARGV[3] == '' and moved + redis.call('LLEN', pending) or tonumber(ARGV[3])
local first, end_, bytes, enough = last, math.max(last - count, oldest), 0, tonumber(ARGV[4])
local events = {}
local function take(list, from, to)
  local some = redis.call('LRANGE', list, from, to)
  for i = #some, 1, -1 do
    events[#events + 1] = some[i]
    bytes = bytes + #some[i]
  end
end
while first > end_ and bytes < enough do
  local from = math.max(first - 10, end_)
  if first > moved then take(pending, math.max(from, moved) - moved, first - 1 - moved) end
  if from < moved then take(records, from - oldest, math.min(first, moved) - 1 - oldest) end
  first = from
end
return { tostring(first), events }
`);

const startScript = defineScript<[moved: string, events: string[], counters: string[]]>(`
local pending, counters, count = KEYS[1], KEYS[2], tonumber(ARGV[1])
local moved = tonumber(redis.call('HGET', counters, ARGV[2]) or '0')
local from = ARGV[3] == '' and moved or tonumber(ARGV[3])
local events, fields = {}, {}
if ARGV[3] == '' then fields = redis.call('HGETALL', counters) end
local bytes, enough = 0, tonumber(ARGV[4])
while from >= moved and #events < count and bytes < enough do
  local at = from - moved + #events
  local some = redis.call('LRANGE', pending, at, at + math.min(10, count - #events) - 1)
  if #some == 0 then break end
  for _, event in ipairs(some) do
    events[#events + 1] = event
    bytes = bytes + #event
  end
end
return { tostring(moved), events, fields }
`);
