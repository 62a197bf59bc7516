import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { isPlainAddress, ping } from './ping.js';

/** Returns the address of a Redis on this machine. */
export function urlOf(port: number): string {
  return `redis://127.0.0.1:${String(port)}`;
}

/** The library is loaded only where it is needed: a start of the service on its own data asks nothing but PING. */
async function clientOf(url: string) {
  const { createClient } = await import('redis');
  const client = createClient({ url, socket: { reconnectStrategy: false, connectTimeout: 2_000 } });
  // A failed connection also rejects `connect`.
  client.on('error', () => undefined);
  return client;
}

/** Connects to a Redis while `use` runs. */
export async function withClient<Result>(
  url: string,
  use: (client: Awaited<ReturnType<typeof clientOf>>) => Promise<Result>,
): Promise<Result> {
  const client = await clientOf(url);
  try {
    await client.connect();
    return await use(client);
  } finally {
    client.destroy();
  }
}

/** Resolves when the Redis at `url` answers and has loaded its data. Rejects with the last error after `patienceMs`. */
export async function untilRedisAnswers(url: string, patienceMs: number, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      if (isPlainAddress(url)) await ping(url);
      else await withClient(url, (client) => client.ping());
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50, undefined, { signal });
    }
  }
}

/** Returns the address of the Redis that a running service has started on our data; null when none answers. */
export async function findOwnRedis(dataDirectory: string): Promise<string | null> {
  try {
    const port = Number(await readFile(join(dataDirectory, 'redis', 'port'), 'utf8'));
    await ping(urlOf(port));
    return urlOf(port);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ECONNREFUSED') return null;
    throw error;
  }
}
