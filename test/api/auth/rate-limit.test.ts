import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRateLimit, createMinuteCounters } from '../../../src/api/auth/rate-limit.js';
import { createHealthRoutes } from '../../../src/api/routes/health.js';
import { noQuotas } from '../../support/no-quotas.js';
import { noReads, noRecent } from '../../support/no-reads.js';
import { createUsageRoutes } from '../../../src/api/routes/usage.js';
import { makeToken, startApi, type ApiClient } from '../../support/api.js';
import { useTestRedis } from '../../support/use-test-redis.js';

const { redis } = useTestRedis();
let api: ApiClient;
beforeAll(async () => {
  const routes = [
    ...createUsageRoutes({
      usage: { stats: () => Promise.resolve({}) },
      readRecent: noRecent,
      usageOfReads: noReads,
      ...noQuotas,
    }),
    ...createHealthRoutes({
      readiness: () => Promise.resolve({ ready: true, components: {}, disks: {} }),
      phase: () => 'serving',
    }),
  ];
  api = await startApi({ routes, rateLimit: createRateLimit(createMinuteCounters(redis), { perMinute: 3 }) });
});
afterAll(async () => {
  await api.close();
});

test('a caller over the limit gets a 429 with Retry-After, others do not', async () => {
  const [alice, bob] = [makeToken(), makeToken({ entity_id: 'bob' })];
  for (let n = 0; n < 3; n += 1)
    expect(await api.request('/usage/stats', { token: alice })).toMatchObject({ status: 200 });
  const answer = await api.request('/usage/stats', { token: alice });
  expect(answer).toMatchObject({ status: 429, body: { detail: 'Too many requests' } });
  const wait = Number(answer.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(await api.request('/usage/stats', { token: bob })).toMatchObject({ status: 200 });
});

test('/health is not limited', async () => {
  for (let n = 0; n < 5; n += 1) expect(await api.request('/health')).toMatchObject({ status: 200 });
});
