import { TooManyError } from '../../shared/errors.js';
import { keys } from '../../shared/redis/keys.js';
import type { Windows } from './minute-counters.js';

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
