import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from '@jest/globals';
import { z } from 'zod';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { untilAnswers } from './redis.js';

/** The facts that redis-servers.mjs tells of each. */
const servers = z.array(z.object({ port: z.number(), configuration: z.record(z.string(), z.string()) }));
type SharedServer = z.infer<typeof servers>[number];

/** The time that connections of the file before may take to close. */
const CLOSING_MILLISECONDS = 2_000;

/**
 * The address of the Redis that the test files of this Jest worker share, one after another: empty, as it was configured
 * at its start, and without another client. Tests that crash, freeze or fill a server start their own (`startTestRedis`).
 */
export async function emptyTestRedis(): Promise<string> {
  const server = sharedServer();
  const url = urlOf(server);
  const client = createRedis(url, { failFast: false, onError: () => undefined });
  await client.connect();
  try {
    if (!((await isAlone(client)) && (await isUntouched(client, server)))) await replaceServer(client, url);
    await client.flushAll('SYNC');
    await client.sendCommand(['SCRIPT', 'FLUSH', 'SYNC']);
    await client.sendCommand(['SLOWLOG', 'RESET']);
    await client.configResetStat();
  } finally {
    client.destroy();
  }
  return url;
}

/** The Redis of this Jest worker for the tests of a file or of a `describe`, and a client that is connected to it. */
export function useTestRedis({ failFast = true }: { readonly failFast?: boolean } = {}) {
  const url = urlOf(sharedServer());
  const redis = createRedis(url, { failFast, onError: () => undefined });
  beforeAll(async () => {
    await emptyTestRedis();
    await redis.connect();
  });
  afterAll(() => {
    redis.destroy();
  });
  return { url, redis };
}

/** @throws where Jest's configuration did not start the servers */
function sharedServer(): SharedServer {
  const known = servers.parse(JSON.parse(process.env['QUIRE_TEST_REDIS_SERVERS'] ?? '[]'));
  const server = known[Number(process.env['JEST_WORKER_ID'] ?? '1') - 1];
  if (!server) throw new Error('no Redis for this worker: test/support/jest/redis-servers.mjs starts one');
  return server;
}

const urlOf = ({ port }: SharedServer) => `redis://127.0.0.1:${String(port)}`;

/** Tells whether nobody else is connected, or soon will be no more. */
async function isAlone(client: Redis): Promise<boolean> {
  const end = performance.now() + CLOSING_MILLISECONDS;
  for (;;) {
    if ((await client.clientList()).length === 1) return true;
    if (performance.now() > end) return false;
    await sleep(5);
  }
}

/** Tells whether no test has configured it otherwise than it was at its start. */
async function isUntouched(client: Redis, { configuration }: SharedServer): Promise<boolean> {
  const now = await client.configGet('*');
  return Object.entries(now).every(([name, value]) => configuration[name] === value);
}

/** Ends the server; what started it starts the next, at the same address. */
async function replaceServer(client: Redis, url: string): Promise<void> {
  await client.sendCommand(['SHUTDOWN', 'NOSAVE']).catch(() => undefined);
  await untilAnswers(url, 'loaded');
}
