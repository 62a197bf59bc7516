import { randomUUID } from 'node:crypto';
import { defineScript, type Redis } from './client.js';

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
    keys: [key, pauseKey],
    arguments: [token, String(milliseconds), String(pauseMilliseconds)],
  });
  if (taken !== 1) return null;
  return {
    renew: async () => {
      const asked = performance.now();
      if (asked >= until) return false;
      const renewed = await renewScript.run(redis, { keys: [key], arguments: [token, String(milliseconds)] });
      until = renewed === 1 ? asked + milliseconds : 0;
      return performance.now() < until;
    },
    release: async () => {
      until = 0;
      await releaseScript.run(redis, { keys: [key], arguments: [token] });
    },
  };
}

const takeScript = defineScript<number>(
  `
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], '1', 'PX', ARGV[3])
return 1
`,
  { evenWhenFull: true },
);

const renewScript = defineScript<number>(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

const releaseScript = defineScript<number>(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/**
 * Sets a key that says for some milliseconds that a process lives. It works on a
 * full Redis too, where processes have much to do.
 */
export async function sendHeartbeat(redis: Redis, key: string, milliseconds: number): Promise<void> {
  await heartbeatScript.run(redis, { keys: [key], arguments: [String(milliseconds)] });
}

const heartbeatScript = defineScript<string>(`return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])`, {
  evenWhenFull: true,
});
