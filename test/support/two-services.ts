import { expect } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keysUnder } from './keys-under.js';
import { startRedisProxy, type RedisProxy } from './redis-proxy.js';
import { startService, type Service } from './service.js';
import { until } from './until.js';

/** Two services on one Redis and one disk. The API of the first reaches Redis through the proxy. */
export interface TwoServices {
  readonly first: Service;
  /** It has no workers: those of the first serve both. */
  readonly second: Service;
  readonly proxy: RedisProxy;
  /** A connection beside the proxy. */
  readonly redis: Redis;
  /** Kills the first API where it stands and starts it again. */
  restartFirst(): Promise<void>;
  /** Lets the leases of all requests with a key end, as they would by themselves after ten seconds. */
  readonly endLeases: () => Promise<void>;
  stop(): Promise<void>;
}

export async function startTwoServices(): Promise<TwoServices> {
  const first = await startService();
  const { redis: server, dataDirectory } = first;
  const second = await startService({ workers: [], redis: server, dataDirectory });
  const proxy = await startRedisProxy(server.port);
  const redis = createRedis(server.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  const restartFirst = async () => {
    await first.startApi({ REDIS_URL: proxy.url });
    await first.untilReady();
  };
  await restartFirst();
  return {
    first,
    second,
    proxy,
    redis,
    restartFirst,
    endLeases: async () => {
      for (const place of await keysUnder(redis, 'quire:idempotency:'))
        if (await redis.hExists(place, 'until')) await redis.hSet(place, 'until', '0');
    },
    stop: async () => {
      redis.destroy();
      await second.stop();
      await first.stop();
      await proxy.close();
    },
  };
}

/**
 * Sends a request until it is no longer told that another one with its key is under way.
 * @param onHeld called once when it is told so
 */
export async function whenFree<Answer extends { readonly status: number; readonly headers: Headers }>(
  send: () => Promise<Answer>,
  onHeld?: () => Promise<void>,
): Promise<Answer> {
  let answer = await send();
  if (answer.status === 409) await onHeld?.();
  await until(async () => {
    if (answer.status !== 409) return true;
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    answer = await send();
    return answer.status !== 409;
  }, 60);
  return answer;
}

/** The words of commands that a test holds back at the proxy; each is in one command and no other. */
export const COMMANDS = {
  writesRecord: 'tombstones',
  startsBuild: 'names,building',
  remembersAnswer: "'answer', answer)",
} as const;
