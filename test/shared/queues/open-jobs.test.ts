import { expect, test } from '@jest/globals';
import { LANES } from '../../../src/shared/queues/lanes.js';
import { openJobs } from '../../../src/shared/queues/jobs.js';
import { bullConnection, createRedis } from '../../../src/shared/redis/client.js';
import { makeDocument } from '../../support/documents.js';
import { startRedisProxy } from '../../support/redis-proxy.js';
import { startTestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';

test('a Redis that dies while the queues connect is waited for like one that is away', async () => {
  const server = await startTestRedis();
  const redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  // ioredis asks each connection for INFO before it is ready, and BullMQ once more after it: there it dies.
  let asked = 0;
  let isDead = false;
  const proxy = await startRedisProxy(server.port, (bytes) => {
    if (/\binfo\b/i.test(bytes.subarray(0, 64).toString('latin1'))) asked += 1;
    if (asked > LANES.length && !isDead) {
      isDead = true;
      process.kill(server.pid, 'SIGKILL');
    }
    return bytes;
  });
  const warnings: unknown[] = [];
  const opening = openJobs(
    { connection: bullConnection(proxy.url, { failFast: true }), redis, onError: () => undefined },
    { logger: { warn: (fields: unknown) => warnings.push(fields) } },
  );
  await Promise.race([opening, until(() => warnings.length > 0)]);
  await server.crash();
  await server.start();

  const jobs = await opening;
  await until(async () => {
    await jobs.addIngest(makeDocument({ id: 'a' }), { requestId: 'request' }).catch(() => undefined);
    return (await jobs.queue('ingestion-quick').getPrioritizedCount()) === 1;
  });
  expect(warnings).toHaveLength(1);
  await jobs.close();
  // Queues that were opened first, too: else they would connect again for ever.
  await until(async () => (await redis.clientList()).length === 1, 15);
  await proxy.close();
  redis.destroy();
  await server.stop();
});
