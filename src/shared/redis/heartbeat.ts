import { defineScript, type Redis } from './client.js';

/**
 * Sets a key that says for some milliseconds that a process lives. It works on a
 * full Redis too, where processes have much to do.
 */
export async function sendHeartbeat(redis: Redis, key: string, milliseconds: number): Promise<void> {
  await script.run(redis, { keys: [key], arguments: [String(milliseconds)] });
}

const script = defineScript<string>(`return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])`, {
  evenWhenFull: true,
});
