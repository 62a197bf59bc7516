import { TooManyError } from '../../shared/errors.js';
import { keys } from '../../shared/redis/keys.js';
import type { Windows } from './windows.js';

/** Counts a request of a caller. @throws TooManyError when it was one too many */
export type RateLimit = (callerId: string) => Promise<void>;

/** At most so many requests in a minute that begins with the first of them, over all API processes. */
export function createRateLimit(windows: Windows, { perMinute }: { perMinute: number }): RateLimit {
  return async (callerId) => {
    const left = await windows.take([{ key: keys.requests(callerId), most: perMinute }]);
    if (left === 0) return;
    throw new TooManyError('Too many requests', { retryAfterSeconds: left / 1_000 });
  };
}
