import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRateLimit } from '../../src/api/rate-limit.js';
import { createHealthRoutes } from '../../src/api/routes/health.js';
import { createTokenRoutes } from '../../src/api/routes/tokens.js';
import { createUsageRoutes } from '../../src/api/routes/usage.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { makeToken, startApi, type ApiClient } from '../support/api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let api: ApiClient;
beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  const routes = [
    ...createUsageRoutes({ usage: { stats: () => Promise.resolve({}), recent: () => Promise.resolve([]) } }),
    ...createTokenRoutes({ makeUri: () => '', devMode: false, password: 'open sesame' }),
    ...createHealthRoutes({ readiness: () => Promise.resolve({ ready: true, components: {} }) }),
  ];
  api = await startApi({ routes, rateLimit: createRateLimit(redis, { perMinute: 3 }) });
});
afterAll(async () => {
  await api.close();
  redis.destroy();
  await server.stop();
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

test('strangers who try passwords are limited by their address, /health is not', async () => {
  const guess = { method: 'POST', body: new URLSearchParams({ password_token: 'guess' }) };
  for (let n = 0; n < 3; n += 1)
    expect(await api.request('/local/generate_uri', guess)).toMatchObject({ status: 401 });
  expect(await api.request('/local/generate_uri', guess)).toMatchObject({ status: 429 });
  for (let n = 0; n < 5; n += 1) expect(await api.request('/health')).toMatchObject({ status: 200 });
});
