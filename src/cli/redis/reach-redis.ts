import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { readOwnAddress } from './own-address.js';
import { isPlainAddress, ping } from './ping.js';

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
      await ask(url);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50, undefined, { signal });
    }
  }
}

/** @throws when no Redis answers that has loaded its data */
async function ask(url: string): Promise<void> {
  if (isPlainAddress(url)) await ping(url);
  else await withClient(url, (client) => client.ping());
}

/** Returns the address of the Redis that a running service has started on our data; null when none answers. */
export async function findOwnRedis(dataDirectory: string): Promise<string | null> {
  try {
    const url = await readOwnAddress(join(dataDirectory, 'redis'));
    if (url !== null) await ask(url);
    return url;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || systemErrorCode(error) === 'ECONNREFUSED') return null;
    throw error;
  }
}
