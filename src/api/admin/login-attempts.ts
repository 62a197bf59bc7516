import { AppError } from '../../shared/errors.js';
import { keys } from '../../shared/keys.js';
import type { Redis } from '../../shared/redis.js';

const MOST_ATTEMPTS = 10;
const WINDOW_SECONDS = 300;

/** Counts attempts at logging in by the address they come from, over all API processes. */
export interface LoginAttempts {
  /** @throws AppError 429 */
  take(address: string): Promise<void>;
  /** After a success. */
  forget(address: string): Promise<void>;
}

export function createLoginAttempts(redis: Redis): LoginAttempts {
  return {
    take: async (address) => {
      const key = keys.loginAttempts(address);
      const [, attempts, leftSeconds] = await redis
        .multi()
        .set(key, '0', { condition: 'NX', expiration: { type: 'EX', value: WINDOW_SECONDS } })
        .incr(key)
        .ttl(key)
        .execTyped();
      if (attempts <= MOST_ATTEMPTS) return;
      const headers = { 'Retry-After': String(Math.max(1, leftSeconds)) };
      throw new AppError(429, 'Too many attempts at logging in', { headers });
    },
    forget: async (address) => {
      await redis.del(keys.loginAttempts(address));
    },
  };
}
