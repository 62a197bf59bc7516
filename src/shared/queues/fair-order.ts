import { defineScript, type Redis } from '../redis/client.js';
import { keys, queueKeys } from '../redis/keys.js';

/** The largest priority of a BullMQ job; the smallest is served first. */
const MAX_PRIORITY = 2_097_151;
/** A virtual time beyond this is taken back to the beginning, before priorities run out. */
const LATE = 1_048_576;
/** Jobs that a step of `recede` moves: some milliseconds of Redis. */
const MOVED_AT_ONCE = 500;

export type FairOrder = ReturnType<typeof createFairOrder>;

/**
 * Who goes next among the jobs of a lane: start-time fair queueing (Goyal, Vin and Cheng 1996). The virtual time is the
 * smallest priority that waits; a job starts at that, or where its caller's last one ended, and ends its cost later. So a
 * caller's n-th waiting job never goes before another's first, and who was away has saved up nothing.
 */
export function createFairOrder(redis: Redis) {
  return {
    /** Priorities for jobs of `flow` that are about to be added, in their order. */
    priorities: (lane: string, flow: string, costs: readonly number[]): Promise<number[]> =>
      tagScript.run(redis, {
        keys: keysOf(lane),
        arguments: [String(MAX_PRIORITY), String(LATE), flow, ...costs.map(String)],
      }),

    /**
     * Takes a virtual time that has become late back to the beginning, with everything that waits, in its order; and
     * brings jobs forward that came back from a retry with a priority of before. Answers whether more is to be done.
     */
    recede: async (lane: string): Promise<boolean> => {
      const left = await recedeScript.run(redis, {
        keys: [...keysOf(lane)],
        arguments: [String(LATE), String(MOVED_AT_ONCE), queueKeys.job(lane, '')],
      });
      return left === 1;
    },
  };
}

const keysOf = (lane: string): string[] => [
  queueKeys.prioritizedJobs(lane),
  keys.turns(lane),
  keys.virtualTime(lane),
  keys.receding(lane),
];

/** In BullMQ's sorted set of waiting jobs the priority is what stands above the lower 32 bits. */
const PRELUDE = `
local waiting, turns, clock, receding = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function priorityAt(place)
  local entry = redis.call('ZRANGE', waiting, place, place, 'WITHSCORES')
  return entry[2] and math.floor(tonumber(entry[2]) / 4294967296)
end
local function latestTurn()
  return tonumber(redis.call('ZRANGE', turns, -1, -1, 'WITHSCORES')[2] or '0')
end
`;

/** When nothing waits, all turns are over, and time goes on from the last of them: a retry is not older than what is new. */
const tagScript = defineScript<number[]>(`${PRELUDE}
local largest, late, flow = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local now = tonumber(redis.call('GET', clock) or '1')
local head = priorityAt(0)
if head then now = math.max(now, head) else
  now = math.max(now, latestTurn())
  if now > late then now = 1 end
  redis.call('DEL', turns)
end
if redis.call('EXISTS', receding) == 1 then largest = late end
redis.call('ZREMRANGEBYSCORE', turns, '-inf', now)
local turn = math.max(now, tonumber(redis.call('ZSCORE', turns, flow) or '0'))
local priorities = {}
for i = 4, #ARGV do
  priorities[#priorities + 1] = math.min(math.floor(turn), largest)
  turn = math.min(turn + tonumber(ARGV[i]), largest)
end
redis.call('ZADD', turns, tostring(turn), flow)
redis.call('SET', clock, tostring(now))
return priorities
`);

/**
 * Waiting jobs go back in ascending order, so that those moved stay before those that are not, and new ones, which are
 * tagged in the new time, are never beyond both. Where callers stood is forgotten, but for the latest turn of all.
 */
const recedeScript = defineScript<number>(`${PRELUDE}
local late, most, prefix = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local function move(id, score, priority)
  redis.call('ZADD', waiting, string.format('%.0f', score), id)
  if redis.call('EXISTS', prefix .. id) == 1 then redis.call('HSET', prefix .. id, 'priority', priority) end
end
local head = priorityAt(0)
if not head then redis.call('DEL', receding) return 0 end
local base = tonumber(redis.call('GET', receding) or '0')
if base == 0 and head > late then
  base = head - 1
  redis.call('SET', receding, base)
  redis.call('SET', clock, 1)
  redis.call('DEL', turns)
  redis.call('ZADD', turns, math.max(1, priorityAt(-1) - base), '')
end
if base > 0 then
  local from = string.format('%.0f', (base + 1) * 4294967296)
  local found = redis.call('ZRANGEBYSCORE', waiting, from, '+inf', 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #found, 2 do
    local score = tonumber(found[i + 1]) - base * 4294967296
    move(found[i], score, math.floor(score / 4294967296))
  end
  if #found > 0 then return 1 end
  redis.call('DEL', receding)
  return 0
end
local beyond = math.max(latestTurn(), tonumber(redis.call('GET', clock) or '1'), head)
local from = string.format('%.0f', (beyond + 1) * 4294967296)
local found = redis.call('ZRANGEBYSCORE', waiting, from, '+inf', 'LIMIT', 0, most)
for _, id in ipairs(found) do move(id, head * 4294967296, head) end
return #found == most and 1 or 0
`);
