import { expect, test } from '@jest/globals';
import { createRedis } from '../../../src/shared/redis/client.js';
import { findQueryEngine, startQueryEngine } from '../../support/query-engine-server.js';
import { startTestRedis, type TestRedis } from '../../support/redis.js';

async function versionsOf(server: TestRedis): Promise<{ redis: string; modules: Record<string, number> }> {
  const client = createRedis(server.url, { failFast: true, onError: () => undefined });
  try {
    await client.connect();
    const redis = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? '';
    const modules = await client.moduleList();
    return { redis, modules: Object.fromEntries(modules.map(({ name, ver }) => [name, ver])) };
  } finally {
    client.destroy();
    await server.stop();
  }
}

test('these tests cover the engines that are named here', async () => {
  const plain = await versionsOf(await startTestRedis());
  const engine = findQueryEngine();
  const withEngine = engine && (await versionsOf(await startQueryEngine(engine)));
  const covered = withEngine
    ? `query-engine on Redis ${withEngine.redis}, search ${String(withEngine.modules['search'])}`
    : 'query-engine on nothing: no Redis with the Query Engine was found';
  process.stdout.write(`engines covered: exact on Redis ${plain.redis}; ${covered}\n`);
  expect(plain.redis).toMatch(/^\d+\.\d+/);
  expect(withEngine === null || Number(withEngine.modules['search']) >= 21_000).toBe(true);
});
