import { AppError } from '../shared/errors.js';
import { keys } from '../shared/keys.js';
import { defineScript, type Redis } from '../shared/redis.js';

/** Counts a request of somebody. @throws AppError 429 when it was one too many */
export type RateLimit = (who: string) => Promise<void>;

const WINDOW_MILLISECONDS = 60_000;

/** At most so many requests in a minute that begins with the first of them, over all API processes. */
export function createRateLimit(redis: Redis, { perMinute }: { perMinute: number }): RateLimit {
  return async (who) => {
    const [count, left] = await countScript.run(redis, {
      keys: [keys.requests(who)],
      arguments: [String(WINDOW_MILLISECONDS)],
    });
    if (count <= perMinute) return;
    const headers = { 'Retry-After': String(Math.max(1, Math.ceil(left / 1_000))) };
    throw new AppError(429, 'Too many requests', { headers });
  };
}

const countScript = defineScript<[count: number, millisecondsLeft: number]>(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
`);
