import { expect, test } from '@jest/globals';
import { createCache, ingestText } from '../support/cache-client.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';

const service = useService({ env: EVERYDAY });

test('an owner has a hundred caches, changes those, and nobody else has fewer for it', async () => {
  const [alice, bob] = [service.client('alice'), service.client('bob')];
  const docs = [await ingestText(alice, 'The vault is forty metres deep.')];
  const created = await Promise.all(
    Array.from({ length: 104 }, (_, n) => createCache(alice, `cache-${String(n)}`, { docs })),
  );
  expect(created.filter(({ status }) => status === 200 || status === 202)).toHaveLength(100);
  const refused = created.filter(({ status }) => status === 409);
  expect(refused).toHaveLength(4);
  expect(refused[0]?.body).toMatchObject({ detail: 'You have 100 caches already: delete one first' });

  const { body: listed } = await alice.get<{ readonly name: string }[]>('/caches');
  expect(listed).toHaveLength(100);
  const names = listed.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  const [first = '', second = ''] = names;
  expect((await createCache(alice, first, { docs })).status).toBe(200);
  expect((await createCache(bob, 'mine', { docs: [await ingestText(bob, 'A shallow one.')] })).status).toBe(
    200,
  );
  expect((await alice.delete(`/cache/${second}`)).status).toBe(200);
  expect((await createCache(alice, 'one-more', { docs })).status).toBe(200);
});

test('filters of a cache beyond 16 KiB as JSON are refused by their name', async () => {
  const alice = service.client('carol');
  await ingestText(alice, 'The vault is forty metres deep.');
  const filters = { topic: { $in: Array.from({ length: 900 }, (_, i) => `${'x'.repeat(40)}${String(i)}`) } };
  const reply = await createCache(alice, 'large', { filters });
  expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'filters'] }] } });
});
