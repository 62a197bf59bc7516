import { describe, expect, test } from '@jest/globals';
import { keys } from '../../src/shared/redis/keys.js';
import { withRedis } from '../chaos/with-redis.js';
import { createCache, ingestText, type CacheConfiguration } from '../support/cache-client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

const user = service.client;
const inPath = (name: string) => encodeURIComponent(name);

/** Every way to ask for a cache by its name, and what an unknown one is answered. */
const waysTo = (name: string, docs: readonly string[]) => {
  const path = `/cache/${inPath(name)}`;
  const missing = { status: 404, body: { detail: `Cache '${name}' not found` } };
  return [
    { method: 'GET', path, body: undefined, expected: { status: 200, body: { exists: false } } },
    { method: 'POST', path: `${path}/update`, body: {}, expected: missing },
    { method: 'POST', path: `${path}/add_docs`, body: { docs }, expected: missing },
    { method: 'POST', path: `${path}/query`, body: { query: 'How deep is it?' }, expected: missing },
    { method: 'DELETE', path, body: undefined, expected: missing },
  ];
};

async function answers(caller: string, name: string, docs: readonly string[]) {
  const seen = [];
  for (const { method, path, body } of waysTo(name, docs)) {
    const init =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const { status, body: answered } = await user(caller).send(method, path, init);
    seen.push({ status, body: answered });
  }
  return seen;
}

describe('caches and what is counted', () => {
  test('belong to their owner alone, whatever colons are in whose name', async () => {
    const victim = user('acme:bob');
    const secret = await ingestText(victim, 'The vault is forty metres deep.');
    expect((await createCache(victim, 'deals', { docs: [secret] })).status).toBe(200);

    const own = await ingestText(user('acme'), 'Nothing of interest.');
    const strangers: [caller: string, name: string][] = [
      ['acme', 'bob:deals'],
      ['acme', 'bob%3Adeals'],
      ['acme', 'deals'],
      ['acme%3Abob', 'deals'],
      ['acme:', 'bob:deals'],
      ['bob', 'deals'],
    ];
    for (const [caller, name] of strangers) {
      const wanted = waysTo(name, [own]).map(({ expected }) => expected);
      expect([caller, await answers(caller, name, [own])]).toEqual([caller, wanted]);
      expect((await user(caller).get('/caches')).body).toEqual([]);
      const stats = await user(caller).get<Record<string, number>>('/usage/stats');
      expect(stats.body['create_cache']).toBeUndefined();
      expect((await user(caller).get<unknown[]>('/usage/recent?operation_type=create_cache')).body).toEqual(
        [],
      );
    }
    // One that takes the same name makes a cache of its own.
    expect((await createCache(user('acme'), 'bob:deals', { docs: [own] })).status).toBe(422);
    expect((await createCache(user('acme'), 'deals', { docs: [own] })).status).toBe(200);
    expect((await user('acme').delete('/cache/deals')).status).toBe(200);

    const still = await victim.get<CacheConfiguration>('/cache/deals');
    expect(still.body).toMatchObject({ exists: true, status: 'ready', doc_count: 1 });
    const { body } = await victim.post<{ completion: string }>('/cache/deals/query', { query: 'How deep?' });
    expect(body.completion).toContain('forty metres');
    expect((await victim.get<unknown[]>('/usage/recent?operation_type=query_cache')).body).toHaveLength(1);
  });

  test.each(['-deals', '.deals', 'de als', 'dé', 'a'.repeat(129), 'deals:', '%', 'deals\n', '..%2Fdeals'])(
    'a name that no cache can have is refused at creation, and unknown everywhere else: %j',
    async (name) => {
      const eve = user('eve');
      const id = await ingestText(eve, 'Some text.');
      const refused = await createCache(eve, name, { docs: [id] });
      expect(refused.status).toBe(422);
      expect(refused.body.detail).toMatchObject([{ loc: ['body', 'name'] }]);
      expect(await answers('eve', name, [id])).toEqual(waysTo(name, [id]).map(({ expected }) => expected));
    },
  );

  test('nor is one known that lies under such a name, from before names were looked at', async () => {
    const fred = user('fred');
    const id = await ingestText(fred, 'Some text.');
    expect((await createCache(fred, 'deals', { docs: [id] })).status).toBe(200);
    const name = 'de als';
    await withRedis(service.redis.url, (redis) =>
      redis.copy(keys.cache(service.caller('fred'), 'deals'), keys.cache(service.caller('fred'), name)),
    );
    expect(await answers('fred', name, [id])).toEqual(waysTo(name, [id]).map(({ expected }) => expected));
  });
});
