import { randomUUID } from 'node:crypto';
import type { Redis } from './client.js';
import { declareScript, evenWhenFull } from './script.js';

export interface Lease {
  /** Extends the lease and answers whether this process still has it. A lease that has run out never comes back. */
  renew(): Promise<boolean>;
  release(): Promise<void>;
}

export interface LeaseOptions {
  readonly key: string;
  /** A key that lives from the moment a lease is taken until the next one may be. */
  readonly pauseKey: string;
  readonly pauseMilliseconds: number;
  /** After this time without `renew` another process may take the lease, because its holder may have died. */
  readonly milliseconds: number;
}

/** Takes a lease that one process of all may have; null when another has it, or when the pause is not over. */
export async function takeLease(redis: Redis, options: LeaseOptions): Promise<Lease | null> {
  const { key, pauseKey, pauseMilliseconds, milliseconds } = options;
  const token = randomUUID();
  // Counted from before the request, the lease ends by our clock no later than by the clock of Redis.
  let until = performance.now() + milliseconds;
  const taken = await takeScript.run(redis, {
    keys: { lease: key, pause: pauseKey },
    args: { token, milliseconds, pauseMilliseconds },
  });
  if (taken !== 1) return null;
  return {
    renew: async () => {
      const asked = performance.now();
      if (asked >= until) return false;
      const renewed = await renewScript.run(redis, { keys: { lease: key }, args: { token, milliseconds } });
      until = renewed === 1 ? asked + milliseconds : 0;
      return performance.now() < until;
    },
    release: async () => {
      until = 0;
      await releaseScript.run(redis, { keys: { lease: key }, args: { token } });
    },
  };
}

const takeScript = declareScript({
  keys: { lease: 'key', pause: 'key' },
  args: { token: 'text', milliseconds: 'text', pauseMilliseconds: 'text' },
}).lua<number>(`
${evenWhenFull('string', 'lease')}
if redis.call('EXISTS', lease, pause) > 0 then return 0 end
redis.call('SET', lease, token, 'PX', milliseconds)
redis.call('SET', pause, '1', 'PX', pauseMilliseconds)
return 1
`);

const renewScript = declareScript({
  keys: { lease: 'key' },
  args: { token: 'text', milliseconds: 'text' },
}).lua<number>(`
if redis.call('GET', lease) ~= token then return 0 end
return redis.call('PEXPIRE', lease, milliseconds)
`);

const releaseScript = declareScript({ keys: { lease: 'key' }, args: { token: 'text' } }).lua<number>(`
if redis.call('GET', lease) ~= token then return 0 end
return redis.call('DEL', lease)
`);

/**
 * Sets a key that says for some milliseconds that a process lives. It works on a
 * full Redis too, where processes have much to do.
 */
export async function sendHeartbeat(redis: Redis, key: string, milliseconds: number): Promise<void> {
  await heartbeatScript.run(redis, { keys: { sign: key }, args: { milliseconds } });
}

const heartbeatScript = declareScript({ keys: { sign: 'key' }, args: { milliseconds: 'text' } }).lua<string>(`
${evenWhenFull('string', 'sign')}
return redis.call('SET', sign, '1', 'PX', milliseconds)
`);
