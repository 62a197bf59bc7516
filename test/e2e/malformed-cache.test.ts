import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import { createCache, ingestText, type CacheConfiguration } from '../support/cache-client.js';
import type { Client } from '../support/client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: EVERYDAY });
let redis: Redis;
let client: Client;
let docs: string[];

beforeAll(async () => {
  redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
  await redis.connect();
  client = service.client('alice');
  docs = [await ingestText(client, 'The harbour is nine metres deep.')];
});
afterAll(() => {
  redis.destroy();
});

/** Records that no version of this service writes: damage, or a hand in the data. */
const damages: Record<string, (key: string) => Promise<unknown>> = {
  cut: (key) => redis.hSet(key, 'json', '{"ownerId": '),
  absent: (key) => redis.hDel(key, 'json'),
  unrevised: (key) => redis.hDel(key, 'revision'),
  revised: (key) => redis.hSet(key, 'revision', '4711'),
  nameless: (key) => change(key, { name: 7 }),
  void: (key) => change(key, { ready: null, building: null, failure: null }),
};

async function change(key: string, fields: object): Promise<void> {
  const record: unknown = JSON.parse((await redis.hGet(key, 'json')) ?? '');
  await redis.hSet(key, 'json', JSON.stringify(Object.assign({}, record, fields)));
}

test('caches that cannot be read are left out of the list, are an error by name, and can be deleted', async () => {
  const damaged = Object.keys(damages);
  for (const name of ['healthy', ...damaged])
    expect((await createCache(client, name, { docs })).status).toBe(200);
  for (const name of damaged) await damages[name]?.(keys.cache(service.caller('alice'), name));

  const leftOut = async () =>
    (await service.apiOutput()).split('a cache is left out: its record is malformed').length - 1;
  const before = await leftOut();
  const listed = await client.get<(CacheConfiguration & { name: string })[]>('/caches');
  expect(listed.status).toBe(200);
  expect(listed.body.map(({ name }) => name)).toEqual(['healthy']);
  await until(async () => (await leftOut()) === before + damaged.length);
  for (const name of damaged) {
    expect([name, (await client.get(`/cache/${name}`)).status]).toEqual([name, 500]);
    expect([name, (await createCache(client, name, { docs })).status]).toEqual([name, 500]);
  }

  for (const name of damaged) {
    expect([name, (await client.delete(`/cache/${name}`)).status]).toEqual([name, 200]);
    expect([name, (await client.delete(`/cache/${name}`)).status]).toEqual([name, 404]);
    expect([name, (await createCache(client, name, { docs })).status]).toEqual([name, 200]);
  }
  const again = await client.get<{ name: string }[]>('/caches');
  expect(again.body.map(({ name }) => name)).toEqual(['healthy', ...damaged].sort());
  expect(await redis.zCard(keys.cachesBuilding)).toBe(0);
});
