import { afterEach, expect, test } from '@jest/globals';
import type { LifecyclePhase } from '../../src/api/lifecycle.js';
import { createHealthRoutes } from '../../src/api/routes/health.js';
import { createReadiness, readinessChecks, untilStopping } from '../../src/api/services/health.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { startApi, type ApiClient } from '../support/api.js';
import { startTestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const phase = () => 'serving' as const;

let api: ApiClient;
afterEach(() => api.close());

test('/health tells that the process lives, and asks for no token', async () => {
  api = await startApi({
    routes: createHealthRoutes({ readiness: () => Promise.reject(new Error('unused')), phase }),
  });
  expect(await api.request('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
});

test('/health/ready is 200 only while Redis, index, storage and every kind of worker are there', async () => {
  const server = await startTestRedis();
  const redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  let indexState: 'loading' | 'ready' = 'loading';
  let storageFails = false;
  const parts = {
    index: { state: () => Promise.resolve(indexState) },
    storage: {
      check: () => (storageFails ? Promise.reject(new Error('/secret/path is full')) : Promise.resolve()),
    },
  };
  const queues = ['ingestion', 'embedding'] as const;
  api = await startApi({
    routes: createHealthRoutes({
      readiness: createReadiness(readinessChecks({ ...parts, redis, queues }), []),
      phase,
    }),
  });
  const becomes = async (status: number, components: Record<string, string>) => {
    const name = status === 200 ? 'ready' : 'not_ready';
    const full = {
      redis: 'ready',
      index: 'ready',
      storage: 'ready',
      'worker-ingestion': 'ready',
      'worker-embedding': 'ready',
    };
    const expected = JSON.stringify({ status: name, components: { ...full, ...components }, disks: {} });
    let last = '';
    await until(async () => {
      const answer = await api.request('/health/ready');
      last = answer.text;
      return answer.status === status && last === expected;
    }).catch(() => {
      expect(last).toBe(expected);
    });
  };

  await becomes(503, {
    index: 'loading',
    'worker-ingestion': 'unavailable',
    'worker-embedding': 'unavailable',
  });
  indexState = 'ready';
  await redis.set(keys.worker('ingestion'), '1', { expiration: { type: 'EX', value: 60 } });
  await becomes(503, { 'worker-embedding': 'unavailable' });
  await redis.set(keys.worker('embedding'), '1', { expiration: { type: 'EX', value: 60 } });
  await becomes(200, {});
  storageFails = true;
  await becomes(503, { storage: 'unavailable' });
  storageFails = false;
  await server.crash();
  await becomes(503, {
    redis: 'unavailable',
    'worker-ingestion': 'unavailable',
    'worker-embedding': 'unavailable',
  });
  redis.destroy();
  await server.stop();
});

test('a check that hangs counts as unavailable, and is not asked by everyone who asks us', async () => {
  let asked = 0;
  const slow = () => {
    asked += 1;
    return new Promise<never>(() => undefined);
  };
  const readiness = createReadiness({ slow }, []);
  api = await startApi({ routes: createHealthRoutes({ readiness, phase }) });
  const answers = await Promise.all([api.request('/health/ready'), api.request('/health/ready')]);
  for (const { status, body } of answers) {
    expect(status).toBe(503);
    expect(body).toEqual({ status: 'not_ready', components: { slow: 'unavailable' }, disks: {} });
  }
  expect(asked).toBe(1);
});

test('/health/serving is 200 only between start and stop, and asks for no token', async () => {
  let current: LifecyclePhase = 'starting';
  const unused = () => Promise.reject(new Error('unused'));
  api = await startApi({ routes: createHealthRoutes({ readiness: unused, phase: () => current }) });
  for (const [next, status] of [
    ['starting', 503],
    ['serving', 200],
    ['stopping', 503],
  ] as const) {
    current = next;
    const answer = await api.request('/health/serving');
    expect(answer).toMatchObject({ status, body: { status: next } });
    expect(answer.headers.get('retry-after')).toBe(status === 200 ? null : '2');
  }
});

test('/health/ready is 503 in a process that stops, however well everything is', async () => {
  let current: LifecyclePhase = 'serving';
  const all = createReadiness({ redis: () => Promise.resolve('ready' as const) }, []);
  const readiness = untilStopping(all, () => current);
  api = await startApi({ routes: createHealthRoutes({ readiness, phase: () => current }) });
  expect(await api.request('/health/ready')).toMatchObject({ status: 200 });
  current = 'stopping';
  expect(await api.request('/health/ready')).toMatchObject({
    status: 503,
    body: { status: 'not_ready', components: { redis: 'ready', api: 'unavailable' } },
  });
});
