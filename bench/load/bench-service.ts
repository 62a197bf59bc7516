import { createClient } from 'redis';
import { startTestRedis, type TestRedis } from '../../test/support/redis.js';
import { startService, type Service } from '../../test/support/service.js';
import { LOOP_METERED } from './loop-delay.js';

export const SECRET = 'a secret of the benchmark, long enough for HS256';

export interface Target {
  readonly url: string;
  readonly secret: string;
}

const startSyncedRedis = () => startTestRedis({ arguments: ['--appendfsync', 'always'] });

export interface BenchService extends Service {
  readonly target: Target;
  /** `always`, as with `npm start` and at first: Redis answers when its log is on the disk. Seeding is faster without. */
  setSync(appendfsync: 'always' | 'no'): Promise<void>;
}

/** The whole service with the processes of `npm start`, on a Redis of its own. */
export async function startBenchService(
  env: Readonly<Record<string, string>> = {},
  startRedis: () => Promise<TestRedis> = startSyncedRedis,
): Promise<BenchService> {
  const redis = await startRedis();
  const settings = { JWT_SECRET_KEY: SECRET, QUIRE_LOG_LEVEL: 'warn', QUIRE_WORKERS_LOCK_SECONDS: '30' };
  const service = await startService({
    redis,
    workers: ['ingestion', 'embedding,cache,usage,maintenance'],
    env: { QUIRE_WORKERS_SWEEP_SECONDS: '30', ...settings, ...env },
    execArgv: LOOP_METERED,
  }).catch(async (error: unknown) => {
    await redis.stop();
    throw error;
  });
  return {
    ...service,
    get api() {
      return service.api;
    },
    target: { url: service.url, secret: SECRET },
    setSync: async (appendfsync) => {
      const client = await createClient({ url: redis.url }).connect();
      await client.configSet('appendfsync', appendfsync);
      client.destroy();
    },
    stop: async () => {
      await service.stop();
      await redis.stop();
    },
  };
}
