import { describe, expect, test } from '@jest/globals';
import { QUEUE_PREFIX } from '../../src/shared/redis/keys.js';
import { createRedis } from '../../src/shared/redis/client.js';
import {
  cacheCompletion,
  cacheOperations,
  createCache,
  ingestText,
  someModel,
  type CacheConfiguration,
} from '../support/cache-client.js';
import type { Client } from '../support/client.js';
import { lanesOf, whilePaused } from '../support/paused-queues.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: EVERYDAY });
const user = service.client;

describe('while no worker begins a build', () => {
  const withoutBuilds = (action: () => Promise<void>) =>
    whilePaused(service.redis.url, lanesOf('cache'), action);
  const later = { Prefer: 'respond-async' };
  const untilBuilt = async (client: Client, name: string) => {
    await until(async () => {
      const { body } = await client.get<CacheConfiguration>(`/cache/${name}`);
      return body.status !== 'building';
    });
  };

  test('builds are 202 and wait; the cache before answers until the new one is ready', async () => {
    const client = user('patient');
    const [one, two] = [
      await ingestText(client, 'Version one: walnut.'),
      await ingestText(client, 'Version two: pecan.'),
    ];
    expect((await createCache(client, 'old', { docs: [one] })).status).toBe(200);
    expect((await createCache(client, 'gone', { docs: [one] })).status).toBe(200);
    const question = { query: 'What are version one and version two?' };
    await withoutBuilds(async () => {
      const replacing = await client.post('/cache/create', { name: 'old', ...someModel, docs: [two] }, later);
      const building = { name: 'old', doc_count: 1, status: 'building', success: true };
      expect(replacing).toMatchObject({ status: 202, body: building });
      expect(replacing.headers.get('preference-applied')).toBe('respond-async');
      expect((await client.get('/cache/old')).body).toMatchObject({ exists: true, status: 'building' });
      expect(await cacheCompletion(client, 'old', question.query)).toContain('walnut');
      const first = await client.post(
        '/cache/create',
        { name: 'new', ...someModel, docs: [one] },
        { Prefer: 'wait=0' },
      );
      expect(first.status).toBe(202);
      expect(first.headers.get('preference-applied')).toBe('wait=0');
      const early = await client.post('/cache/new/query', question);
      expect(early).toMatchObject({ status: 409, body: { detail: expect.any(String) } });
      expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
      const added = await client.post('/cache/new/add_docs', { docs: [two] }, later);
      expect(added).toMatchObject({ status: 202, body: { success: true, status: 'building' } });
      const both = await client.post('/cache/new/update', {}, { Prefer: 'respond-async, wait=1' });
      expect(both.headers.get('preference-applied')).toBe('respond-async, wait=1');
      expect((await client.post('/cache/gone/update', {}, later)).status).toBe(202);
      expect((await client.delete('/cache/gone')).status).toBe(200);
      expect((await client.get('/cache/gone')).body).toEqual({ exists: false });
    });
    await untilBuilt(client, 'old');
    await untilBuilt(client, 'new');
    expect(await cacheCompletion(client, 'old', question.query)).toContain('pecan');
    expect(await cacheCompletion(client, 'old', question.query)).not.toContain('walnut');
    const answer = await cacheCompletion(client, 'new', question.query);
    expect([answer.includes('walnut'), answer.includes('pecan')]).toEqual([true, true]);
    expect((await client.get('/cache/gone')).body).toEqual({ exists: false });
    expect((await cacheOperations(client)).filter((record) => !record.startsWith('query'))).toEqual([
      'create_cache success',
      'create_cache success',
      'create_cache error superseded',
      'add_docs_to_cache error superseded',
      'update_cache error deleted',
      'create_cache success',
      'update_cache success',
    ]);
  });

  test('a build outlives the loss of its queue', async () => {
    const client = user('survivor');
    await ingestText(client, 'The password of the survivor is hazelnut.');
    await withoutBuilds(async () => {
      const asked = { name: 'kept', ...someModel, filters: {} };
      expect((await client.post('/cache/create', asked, later)).status).toBe(202);
      const redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
      await redis.connect();
      // The lane of small caches, which has this one, included.
      for await (const names of redis.scanIterator({ MATCH: `${QUEUE_PREFIX}:cache*` })) {
        if (names.length > 0) await redis.del(names);
      }
      await redis.close();
    });
    await untilBuilt(client, 'kept');
    expect(await cacheCompletion(client, 'kept', 'What is the password?')).toContain('hazelnut');
    expect(await cacheOperations(client)).toEqual(['create_cache success', 'query_cache success']);
  });
});
