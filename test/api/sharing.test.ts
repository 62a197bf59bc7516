import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, idsOf } from '../support/document-client.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(() => api.close());

const owners = (count: number) => Array.from({ length: count }, (_, i) => `owner-${String(i)}`);

test('lists hold at most 1,000 entries, and one more is a 422 that names the limit', async () => {
  const { send, name } = createUser(api, 'bounded');
  for (const list of ['blockedOwners', 'acceptedOwners'] as const)
    await api.sharedViews.change(name, (lists) => ({ ...lists, [list]: owners(1_000) }));
  for (const list of ['blocked', 'accepted']) {
    expect((await send('PUT', `/sharing/${list}/owner-7`)).status).toBe(200);
    await api.sharedViews.change(name, (lists) => ({
      ...lists,
      blockedOwners: owners(1_000),
      acceptedOwners: owners(1_000),
    }));
    expect(await send('PUT', `/sharing/${list}/one-more`)).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ['path', 'owner'], type: 'value_error.list.max_items', ctx: { limit_value: 1_000 } }],
      },
    });
  }
  expect((await send('PUT', `/sharing/blocked/${'x'.repeat(257)}`)).status).toBe(422);
});

test('ids with any characters can be listed and taken out, and doing it again changes nothing', async () => {
  const { send, get } = createUser(api, 'strange');
  const strange = ['a/b', 'a%2Fb', 'ü ?#&', "'; DROP", '日本'];
  for (const id of strange)
    for (let times = 0; times < 2; times += 1)
      expect((await send('PUT', `/sharing/blocked/${encodeURIComponent(id)}`)).status).toBe(200);
  expect(await get('/sharing')).toMatchObject({ body: { blocked_owners: strange, accepted_owners: [] } });
  for (const id of strange) await send('DELETE', `/sharing/blocked/${encodeURIComponent(id)}`);
  expect(await get('/sharing')).toMatchObject({ body: { blocked_owners: [] } });
  expect(await api.redis.keys('quire:sharing:*strange*')).toEqual([]);
});

test('accepted documents that are gone make room for others', async () => {
  const [victim, other] = [createUser(api, 'full'), createUser(api, 'giver')];
  const access_control = { readers: [victim.name] };
  const [first, second] = [
    await other.ingest('one', { access_control }),
    await other.ingest('two', { access_control }),
  ];
  const gone = Array.from(
    { length: 999 },
    (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  );
  await api.sharedViews.change(victim.name, (lists) => ({ ...lists, acceptedDocuments: [...gone, first] }));
  expect((await victim.send('POST', `/documents/${second}/accept`)).status).toBe(200);
  expect((await api.sharedViews.read(victim.name)).acceptedDocuments).toEqual([first, second]);
  expect((await victim.send('POST', `/documents/${second}/leave`)).status).toBe(200);
  expect((await api.sharedViews.read(victim.name)).acceptedDocuments).toEqual([first]);
});

test('lists are their caller’s alone, need the right to read only, and are no right to read', async () => {
  const [victim, mallory] = [createUser(api, 'alone'), createUser(api, 'elsewhere')];
  const token = makeToken({ entity_id: victim.name, permissions: ['read'] });
  expect((await api.request('/sharing/blocked/elsewhere', { method: 'PUT', token })).status).toBe(200);
  expect((await mallory.get('/sharing')).body).toMatchObject({ blocked_owners: [] });
  const secret = await mallory.ingest('secret');
  await victim.send('PUT', '/sharing/accepted/elsewhere');
  expect((await victim.send('POST', `/documents/${secret}/accept`)).status).toBe(403);
  await api.sharedViews.change(victim.name, (lists) => ({ ...lists, acceptedDocuments: [secret] }));
  expect(idsOf(await victim.get('/documents?shared=accepted'))).toEqual([]);
  expect((await victim.get(`/documents/${secret}`)).status).toBe(403);
  const none = makeToken({ entity_id: victim.name, permissions: [] });
  expect((await api.request('/sharing', { token: none })).status).toBe(403);
});

test('changes of the same lists at once are all kept', async () => {
  const { send, get } = createUser(api, 'hasty');
  const wanted = owners(8);
  const put = (owner: string) => send('PUT', `/sharing/blocked/${owner}`);
  expect(new Set((await Promise.all(wanted.map(put))).map(({ status }) => status))).toEqual(new Set([200]));
  const { body } = await get('/sharing');
  expect(body).toMatchObject({ blocked_owners: expect.arrayContaining(wanted) });
});

test('a list of documents goes on with what it was asked for of others', async () => {
  const [reader, other] = [createUser(api, 'pager'), createUser(api, 'paged')];
  const own = [await reader.ingest('one'), await reader.ingest('two')];
  await other.ingest('three', { access_control: { readers: [reader.name] } });
  const first = await reader.get('/documents?limit=1&shared=own&total=true');
  expect(first.headers.get('quire-total')).toBe('2');
  const link = /<[^>]*(\/documents[^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  expect(link).toContain('shared=own');
  const second = await reader.get(link);
  expect([...idsOf(first), ...idsOf(second)].sort()).toEqual([...own].sort());
  expect(second.headers.get('link')).toBeNull();
  expect((await reader.get(link.replace('shared=own', 'shared=all'))).status).toBe(422);
});
