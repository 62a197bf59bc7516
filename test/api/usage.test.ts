import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createUsageRoutes } from '../../src/api/routes/usage.js';
import { createAnswerMemory } from '../../src/api/services/answer-memory/answer-memory.js';
import { createReadRecentUsage, type ReadRecentUsage } from '../../src/api/services/recent-usage.js';
import { readOwned } from '../../src/shared/documents/counts.js';
import { createRecords } from '../../src/shared/documents/records.js';
import { makeContent, makeDocument } from '../support/documents.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { createUsage, OPERATIONS, type Usage, type UsageEvent } from '../../src/shared/usage/usage.js';
import { aggregateUsage } from '../support/aggregate-usage.js';
import { makeToken, startApi, type ApiClient } from '../support/api.js';
import { startTestRedis, type TestRedis } from '../support/redis.js';

let server: TestRedis;
let redis: Redis;
let usage: Usage;
let api: ApiClient;
let readRecent: ReadRecentUsage;
const memory = createAnswerMemory({ limitBytes: 16 * 1024 ** 2, waitMilliseconds: 100 });
beforeAll(async () => {
  server = await startTestRedis();
  redis = createRedis(server.url, { failFast: true, onError: () => undefined });
  await redis.connect();
  usage = createUsage(redis);
  const usageOfReads = { untilStored: () => untilStored() };
  readRecent = createReadRecentUsage({ usage, usageOfReads, memory });
  api = await startApi({
    routes: createUsageRoutes({
      usage,
      readRecent,
      usageOfReads,
      quotas,
      owned: (ownerId) => readOwned(redis, ownerId),
    }),
  });
});
afterAll(async () => {
  await api.close();
  redis.destroy();
  await server.stop();
});
beforeEach(() => {
  untilStored = () => Promise.resolve();
  return redis.flushAll();
});

let untilStored: () => Promise<void>;

const quotas = { documents: 2, bytes: 1_000, chunks: null };
const token = makeToken({ permissions: ['read'] });
const recent = (query = '') => api.request(`/usage/recent${query}`, { token });

let count = 0;
function event(fields: Partial<UsageEvent> = {}): UsageEvent {
  count += 1;
  return {
    id: `event-${String(count)}`,
    userId: 'alice',
    operation: 'query',
    status: 'success',
    tokens: 7,
    durationMs: 12,
    at: '2026-01-02T03:04:05.678Z',
    metadata: { query: 'leaves', k: 4 },
    ...fields,
  };
}

describe('/usage/recent', () => {
  test("shows the caller's records with the names of the interface", async () => {
    await usage.append(event());
    await usage.append(event({ userId: 'bob' }));
    expect((await recent()).body).toEqual([
      {
        timestamp: '2026-01-02T03:04:05.678Z',
        operation_type: 'query',
        tokens_used: 7,
        user_id: 'alice',
        duration_ms: 12,
        status: 'success',
        metadata: { query: 'leaves', k: 4 },
      },
    ]);
  });

  test('is newest first, at most `limit` (default 100, max 1000), pending and aggregated alike', async () => {
    for (let n = 0; n < 60; n += 1) await usage.append(event({ tokens: n }));
    await aggregateUsage(redis)({ keepDays: 3650, keepRecords: 10_000 });
    for (let n = 60; n < 120; n += 1) await usage.append(event({ tokens: n }));
    const tokensOf = async (query: string) =>
      ((await recent(query)).body as { tokens_used: number }[]).map(({ tokens_used }) => tokens_used);
    expect(await tokensOf('')).toEqual(Array.from({ length: 100 }, (_, n) => 119 - n));
    expect(await tokensOf('?limit=2')).toEqual([119, 118]);
    expect(await tokensOf('?limit=1000')).toHaveLength(120);
  });

  test.each([
    ['limit=1001', 'limit', 'value_error.number.not_le'],
    ['limit=0', 'limit', 'value_error.number.not_ge'],
    ['limit=x', 'limit', 'type_error.integer'],
    ['since=yesterday', 'since', 'value_error.datetime'],
    ['since=', 'since', 'value_error.datetime'],
    ['since=2026-13-01', 'since', 'value_error.datetime'],
  ])('refuses %s', async (query, field, type) => {
    const answer = await recent(`?${query}`);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', field], type }] } });
  });

  test('records that nobody takes hold no more than the share of their caller', async () => {
    const query = '\u{1f512}'.repeat(512);
    for (let n = 0; n < 1_000; n += 1) await usage.append(event({ metadata: { query } }));
    const { signal } = new AbortController();
    const read = (callerId: string) => readRecent(callerId, { limit: 1_000 }, signal);
    const asked = await Promise.allSettled(Array.from({ length: 40 }, () => read('alice')));
    const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(answers.length).toBeGreaterThan(1);
    expect(answers.length).toBeLessThanOrEqual(4);
    expect(memory.figures().held).toBeGreaterThan(answers.length * 1_000 * 512 * 4);
    for await (const _ of await read('bob'));
    for (const answer of answers) for await (const _ of answer);
    expect(memory.figures()).toEqual({ held: 0, waiting: 0 });
  });

  test('filters by operation_type and status; unknown values give an empty list', async () => {
    await usage.append(event({ operation: 'query' }));
    await usage.append(event({ operation: 'ingest_text' }));
    await usage.append(event({ operation: 'query', status: 'error' }));
    const found = async (query: string) => ((await recent(query)).body as unknown[]).length;
    expect(await found('?operation_type=query')).toBe(2);
    expect(await found('?operation_type=query&status=error')).toBe(1);
    expect(await found('?status=success')).toBe(2);
    expect(await found('?operation_type=nothing')).toBe(0);
    expect(await found('?status=nothing')).toBe(0);
  });

  test('`since` is ISO 8601, with or without a zone (UTC assumed)', async () => {
    await usage.append(event({ at: '2026-01-02T10:00:00.000Z' }));
    const found = async (since: string) => ((await recent(`?since=${since}`)).body as unknown[]).length;
    for (const since of [
      '2026-01-02',
      '2026-01-02T10:00:00',
      '2026-01-02T10:00:00Z',
      '2026-01-02T10:00:00.000000',
      '2026-01-02T12:00:00%2B02:00',
      '2026-01-02T05:00:00-05:00',
      '2026-01-02%2010:00',
      '2026-01-02 09:59',
      // A plus that was not encoded arrives as a blank.
      '2026-01-02T10:00:00+00:00',
      '2026-01-02T12:00:00.5+0200'.replace('.5', ''),
      '2026-01-02T12:00+02:00',
    ]) {
      expect([since, await found(since)]).toEqual([since, 1]);
    }
    for (const since of [
      '2026-01-03',
      '2026-01-02T10:00:00.001',
      '2026-01-02T11:00:00+00:00',
      '2026-01-02T06:00:00-05:00',
    ]) {
      expect([since, await found(since)]).toEqual([since, 0]);
    }
  });
});

describe('/usage/stats', () => {
  test("counts the caller's successful operations, only those that occurred", async () => {
    expect(await api.request('/usage/stats', { token })).toMatchObject({ status: 200, body: {} });
    await usage.append(event({ operation: 'ingest_text' }));
    await aggregateUsage(redis)({ keepDays: 3650, keepRecords: 10 });
    await usage.append(event({ operation: 'ingest_text' }));
    await usage.append(event({ operation: 'query', status: 'error' }));
    await usage.append(event({ operation: 'query', userId: 'bob' }));
    expect((await api.request('/usage/stats', { token })).body).toEqual({ ingest_text: 2 });
  });

  test('knows every operation', async () => {
    for (const operation of OPERATIONS) await usage.append(event({ operation }));
    const body = (await api.request('/usage/stats', { token })).body;
    expect(body).toEqual(Object.fromEntries(OPERATIONS.map((operation) => [operation, 1])));
  });

  test('needs the permission to read', async () => {
    expect(await api.request('/usage/stats')).toMatchObject({ status: 401 });
    const writer = makeToken({ permissions: ['write'] });
    expect(await api.request('/usage/stats', { token: writer })).toMatchObject({ status: 403 });
  });
});

test.each(['/usage/stats', '/usage/recent'])(
  '%s waits for the reads that were answered before',
  async (path) => {
    untilStored = () => usage.append(event());
    const { body } = await api.request(path, { token });
    expect(body).toMatchObject(path === '/usage/stats' ? { query: 1 } : [{ operation_type: 'query' }]);
    untilStored = () => Promise.reject(new UnavailableError('redis'));
    expect((await api.request(path, { token })).status).toBe(503);
  },
);

test('a Redis that is down is a 503 with Retry-After, and usage is back when it is', async () => {
  await usage.append(event());
  await server.crash();
  for (const path of ['/usage/stats', '/usage/recent']) {
    const answer = await api.request(path, { token });
    expect(answer).toMatchObject({ status: 503, body: { detail: 'redis is unavailable' } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  await server.start();
  for (let tries = 0; !redis.isReady && tries < 100; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await api.request('/usage/stats', { token })).body).toEqual({ query: 1 });
});

describe('GET /usage/quota', () => {
  test('tells what the caller owns and may own, and nothing of others', async () => {
    const records = createRecords(redis);
    await records.create(makeDocument({ ownerId: 'alice', pending: makeContent({ sizeBytes: 700 }) }));
    await records.create(makeDocument({ ownerId: 'bob' }));
    const answer = await api.request('/usage/quota', { token });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      documents: { used: 1, limit: 2 },
      bytes: { used: 700, limit: 1_000 },
      chunks: { used: 0, limit: null },
    });
    expect((await api.request('/usage/quota')).status).toBe(401);
  });
});
