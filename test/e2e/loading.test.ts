import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createRedis } from '../../src/shared/redis/client.js';
import { endOf } from '../support/processes.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

const KEYS = 2_000;

let redis: TestRedis;
let service: Service;

beforeAll(async () => {
  redis = await startTestRedis({
    // A minute and more of LOADING, with answers in between, unless it is told to hurry.
    arguments: ['--key-load-delay', '50000', '--loading-process-events-interval-bytes', '1024'],
  });
  service = await startService({ redis });
  const client = await connect();
  await Promise.all(
    Array.from({ length: KEYS }, (_, i) => client.set(`other:${String(i)}`, 'x'.repeat(100))),
  );
  // As a snapshot: of a log of commands it would load a thousand before it answers again.
  await client.bgRewriteAof();
  await until(async () => (await client.info('persistence')).includes('aof_rewrite_in_progress:0'));
  client.destroy();
});

/** Each test ends a Redis that has loaded its data, and starts its own worker or API. */
beforeEach(async () => {
  await Promise.all(service.workers.map((worker) => worker.kill('SIGTERM')));
  await redis.crash();
});

afterAll(async () => {
  await service.stop();
  await redis.stop();
});

async function connect() {
  const client = createRedis(redis.url, { failFast: false, onError: () => undefined });
  await client.connect();
  return client;
}

/** How often a process said that it waits: at once, and twice a minute. */
function expectSaidOnce(output: string, since: number): void {
  const most = 1 + Math.floor((performance.now() - since) / 30_000);
  const said = output.split('waiting for redis').length - 1;
  expect(said).toBeGreaterThan(0);
  expect(said).toBeLessThanOrEqual(most);
}

async function hurry(): Promise<void> {
  const client = await connect();
  await client.configSet('key-load-delay', '0');
  client.destroy();
}

test('a worker that starts while Redis loads its data waits, says so once, and then serves', async () => {
  await redis.start('answering');
  const since = performance.now();
  const worker = service.startWorker();
  await until(() => worker.output().includes('waiting for redis'));
  expect(worker.output()).toContain('LOADING');
  expect(worker.child.exitCode).toBeNull();
  await hurry();
  await until(() => worker.output().includes('worker started'));
  expectSaidOnce(worker.output(), since);
  await service.untilReady();
});

test('a worker that starts while there is no Redis waits, and ends cleanly when it is asked to', async () => {
  const since = performance.now();
  const worker = service.startWorker();
  await until(() => worker.output().includes('waiting for redis'));
  worker.child.kill('SIGTERM');
  const [code, output] = await endOf(worker);
  expect(code).toBe(0);
  expectSaidOnce(output, since);
});

test('a worker that is asked to end while Redis loads its data ends cleanly', async () => {
  await redis.start('answering');
  const worker = service.startWorker();
  await until(() => worker.output().includes('waiting for redis'));
  worker.child.kill('SIGTERM');
  expect((await endOf(worker))[0]).toBe(0);
});

test('an API that starts while Redis loads its data waits, and says so once', async () => {
  await redis.start('answering');
  const since = performance.now();
  await service.startApi();
  await until(() => service.api.output().includes('waiting for redis'));
  await hurry();
  await until(() => service.api.output().includes('api serves'));
  expectSaidOnce(service.api.output(), since);
});
