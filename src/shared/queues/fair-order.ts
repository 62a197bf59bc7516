import { defineFrequentScript, defineScript, type Redis } from '../redis/client.js';
import { keys, queueKeys } from '../redis/keys.js';

/** The largest priority of a BullMQ job. The smallest priority is served first. */
const MAX_PRIORITY = 2_097_151;
/** A virtual time beyond this is set back to the beginning, before priorities run out. */
const LATE = 1_048_576;
/** Jobs that one step of `rebase` moves, which takes Redis some milliseconds. */
const MOVED_AT_ONCE = 500;

export type FairOrder = ReturnType<typeof createFairOrder>;

/**
 * Decides which job of a lane goes next, by start-time fair queueing (Goyal, Vin and Cheng 1996). The virtual time is
 * the smallest priority that waits. A job starts at the virtual time, or where its caller's last job ended if that is
 * later, and ends after its cost. So the n-th waiting job of a caller never goes before the first of another, and a
 * caller who was away has saved up nothing.
 */
export function createFairOrder(redis: Redis) {
  return {
    /** Returns the priorities for jobs of a flow that are about to be added, in their order. */
    priorities: (lane: string, flow: string, costs: readonly number[]): Promise<number[]> =>
      tagScript.run(redis, {
        keys: keysOf(lane),
        arguments: [String(MAX_PRIORITY), String(LATE), flow, ...costs.map(String)],
      }),

    /**
     * Sets a virtual time that has become large back to the beginning, together with everything
     * that waits, in its order. It also brings forward jobs that came back from a retry with an
     * old priority. Answers whether there is more to do.
     */
    rebase: async (lane: string): Promise<boolean> => {
      const left = await rebaseScript.run(redis, {
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
  keys.rebase(lane),
];

/** In BullMQ's sorted set of waiting jobs, the priority is in the bits above the lower 32. */
const PRELUDE = `
local waiting, turns, clock, rebase = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function priorityAt(place)
  local entry = redis.call('ZRANGE', waiting, place, place, 'WITHSCORES')
  return entry[2] and math.floor(tonumber(entry[2]) / 4294967296)
end
local function latestTurn()
  return tonumber(redis.call('ZRANGE', turns, -1, -1, 'WITHSCORES')[2] or '0')
end
`;

/**
 * When nothing waits, all turns are over and time continues from the last of
 * them, so that a retry is not older than new jobs.
 */
const tagScript = defineFrequentScript<number[]>(`${PRELUDE}
local largest, late, flow = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local now = tonumber(redis.call('GET', clock) or '1')
local head = priorityAt(0)
if head then now = math.max(now, head) else
  now = math.max(now, latestTurn())
  if now > late then now = 1 end
  redis.call('DEL', turns)
end
if redis.call('EXISTS', rebase) == 1 then largest = late end
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
 * Moves waiting jobs in ascending order, so that moved jobs stay ahead of the others, and new jobs, which are tagged in the
 * new time, never come after both. The positions of callers are forgotten, except the latest turn of all.
 */
const rebaseScript = defineScript<number>(`${PRELUDE}
local late, max_moved, prefix = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local function move(id, score, priority)
  redis.call('ZADD', waiting, string.format('%.0f', score), id)
  if redis.call('EXISTS', prefix .. id) == 1 then redis.call('HSET', prefix .. id, 'priority', priority) end
end
local head = priorityAt(0)
if not head then redis.call('DEL', rebase) return 0 end
local base = tonumber(redis.call('GET', rebase) or '0')
if base == 0 and head > late then
  base = head - 1
  redis.call('SET', rebase, base)
  redis.call('SET', clock, 1)
  redis.call('DEL', turns)
  redis.call('ZADD', turns, math.max(1, priorityAt(-1) - base), '')
end
if base > 0 then
  local from = string.format('%.0f', (base + 1) * 4294967296)
  local found = redis.call('ZRANGEBYSCORE', waiting, from, '+inf', 'WITHSCORES', 'LIMIT', 0, max_moved)
  for i = 1, #found, 2 do
    local score = tonumber(found[i + 1]) - base * 4294967296
    move(found[i], score, math.floor(score / 4294967296))
  end
  if #found > 0 then return 1 end
  redis.call('DEL', rebase)
  return 0
end
local beyond = math.max(latestTurn(), tonumber(redis.call('GET', clock) or '1'), head)
local from = string.format('%.0f', (beyond + 1) * 4294967296)
local found = redis.call('ZRANGEBYSCORE', waiting, from, '+inf', 'LIMIT', 0, max_moved)
for _, id in ipairs(found) do move(id, head * 4294967296, head) end
return #found == max_moved and 1 or 0
`);
