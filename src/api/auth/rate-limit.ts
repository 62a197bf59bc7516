import { TooManyError } from '../../shared/errors.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import { declareScript, evenWhenFull } from '../../shared/redis/script.js';

/** Counts a request of a caller. @throws TooManyError when the caller is over the limit */
export type RateLimit = (callerId: string) => Promise<void>;

/** Limits each caller's requests per minute across all API processes. The minute begins with the first request. */
export function createRateLimit(windows: Windows, { perMinute }: { perMinute: number }): RateLimit {
  return async (callerId) => {
    const left = await windows.take([{ key: keys.requests(callerId), max: perMinute }]);
    if (left === 0) return;
    throw new TooManyError('Too many requests', { retryAfterSeconds: left / 1_000 });
  };
}

/** A counter that may reach `max` within a minute. The minute begins when it is first incremented. */
interface Window {
  readonly key: string;
  readonly max: number;
}

/** Counters per minute that all API processes share. */
export interface Windows {
  /**
   * Increments all of the counters, or none if one of them has reached its limit.
   * @returns 0 when they were incremented, else the milliseconds until the next attempt can succeed
   */
  take(windows: readonly Window[]): Promise<number>;
  /** Decrements the counters again. */
  giveBack(windows: readonly Window[]): Promise<void>;
}

const WINDOW_MILLISECONDS = 60_000;

export function createMinuteCounters(redis: Redis): Windows {
  const keysOf = (windows: readonly Window[]) => windows.map(({ key }) => key);
  return {
    take: (windows) =>
      takeScript.run(redis, {
        keys: { counters: keysOf(windows) },
        args: { life: WINDOW_MILLISECONDS, limits: windows.map(({ max }) => String(max)) },
      }),
    giveBack: async (windows) => {
      await giveBackScript.run(redis, { keys: { counters: keysOf(windows) }, args: {} });
    },
  };
}

const takeScript = declareScript({
  keys: { counters: 'keys' },
  args: { life: 'text', limits: 'list' },
}).lua<number>(`
for i, counter in ipairs(counters) do
  if tonumber(redis.call('GET', counter) or '0') >= tonumber(limits[i]) then
    return math.max(1, redis.call('PTTL', counter))
  end
end
for _, counter in ipairs(counters) do
  ${evenWhenFull('string', 'counter')}
  if redis.call('INCR', counter) == 1 then redis.call('PEXPIRE', counter, life) end
end
return 0
`);

const giveBackScript = declareScript({ keys: { counters: 'keys' }, args: {} }).lua<null>(`
for _, counter in ipairs(counters) do
  if tonumber(redis.call('GET', counter) or '0') > 0 then redis.call('DECR', counter) end
end
return nil
`);
