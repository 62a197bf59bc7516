import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { collectionView, type CollectionView } from '../../src/api/routes/collection-view.js';
import { createCollectionStore, MAX_OWN_COLLECTIONS } from '../../src/shared/collections/collection-store.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { ApiAnswer } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, idsOf, type User } from '../support/document-client.js';

let api: DocumentApi;
beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(() => api.close());

const UNKNOWN = '0f0f0f0f-0000-4000-8000-000000000000';
const notFound = (id: string) => ({ status: 404, body: { detail: `Collection '${id}' not found` } });
const forbidden = { status: 403, body: { detail: 'Insufficient permissions' } };
const viewOf = (answer: ApiAnswer): CollectionView => collectionView.parse(answer.body);
const viewsOf = (answer: ApiAnswer) => z.array(collectionView).parse(answer.body);

async function make(user: User, more: Record<string, unknown> = {}): Promise<string> {
  const answer = await user.send('POST', '/collections', { name: 'Herons', ...more });
  expect(answer.status).toBe(200);
  return viewOf(answer).id;
}
const named = (error: Record<string, unknown>, ...loc: string[]) => ({
  status: 422,
  body: { detail: [{ loc, ...error }] },
});

describe('a collection', () => {
  test('is what was asked for, with its owner in each list, and is changed field by field', async () => {
    const { send, get, name } = createUser(api, 'maker');
    const asked = {
      name: 'Herons | and "others"',
      description: 'Birds',
      metadata: { list: ['a|b', 1], nested: { none: null } },
      filter: { year: { $gte: 2025 } },
      access_control: { readers: ['bob|eve', 'bob'] },
      expires_after: { anchor: 'last_active_at', days: 7 },
    };
    const made = viewOf(await send('POST', '/collections', asked));
    expect(made).toMatchObject({
      ...asked,
      owner: name,
      access_control: { readers: [name, 'bob|eve', 'bob'], writers: [name], admins: [name] },
    });
    expect(Date.parse(made.expires_at ?? '') - Date.parse(made.last_active_at)).toBe(7 * 86_400_000);
    const path = `/collections/${made.id}`;
    expect((await get(path)).body).toEqual(made);
    const changes: [Record<string, unknown>, Partial<CollectionView>][] = [
      [{ name: 'Egrets' }, { name: 'Egrets' }],
      [{ description: null }, { description: null }],
      [{ metadata: {} }, { metadata: {} }],
      [{ filter: null }, { filter: null }],
      [{ expires_after: null }, { expires_after: null, expires_at: null }],
      [{ name: null, metadata: null }, {}],
    ];
    let expected = made;
    for (const [body, change] of changes) {
      const changed = viewOf(await send('PATCH', path, body));
      const { updated_at, last_active_at, expires_at } = changed;
      expect(Date.parse(updated_at)).toBeGreaterThanOrEqual(Date.parse(expected.updated_at));
      expected = { ...expected, updated_at, last_active_at, expires_at, ...change };
      expect(changed).toEqual(expected);
    }
    expect((await get(path)).body).toEqual(expected);
    expect(await send('DELETE', path)).toMatchObject({
      status: 200,
      body: { success: true, documents_deleted: 0 },
    });
    expect(await get(path)).toMatchObject(notFound(made.id));
    expect(await api.redis.keys(`quire:*collection*${made.id}*`)).toEqual([]);
    expect(await api.redis.keys(`quire:*collections:${name}`)).toEqual([]);
  });

  test('keeps both of two changes that come at the same time', async () => {
    const user = createUser(api, 'hasty');
    const id = await make(user);
    const bodies = Array.from({ length: 24 }, (_, i) =>
      i % 2 === 0 ? { description: `d${String(i)}` } : { metadata: { i } },
    );
    const answers = await Promise.all(bodies.map((body) => user.send('PATCH', `/collections/${id}`, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { description, metadata } = viewOf(await user.get(`/collections/${id}`));
    expect(description).toMatch(/^d\d+$/);
    expect(metadata).toEqual({ i: expect.any(Number) });
  });

  test('is made once by a request that is repeated with its key', async () => {
    const user = createUser(api, 'again');
    const key = { 'Idempotency-Key': 'one-collection' };
    const answers = [
      await user.send('POST', '/collections', { name: 'once' }, key),
      await user.send('POST', '/collections', { name: 'once' }, key),
    ].map(viewOf);
    expect(answers[1]).toEqual(answers[0]);
    expect(viewsOf(await user.get('/collections'))).toHaveLength(1);
  });

  test('is refused with the field that is wrong', async () => {
    const { send } = createUser(api, 'wrong');
    const cases: [Record<string, unknown>, string[]][] = [
      [{}, ['body', 'name']],
      [{ name: ' ' }, ['body', 'name']],
      [{ name: 'x'.repeat(257) }, ['body', 'name']],
      [{ name: 'x', description: 'x'.repeat(1_025) }, ['body', 'description']],
      [{ name: 'x', metadata: [] }, ['body', 'metadata']],
      [{ name: 'x', filter: { a: { $like: 1 } } }, ['body', 'filter', 'a', '$like']],
      [{ name: 'x', filter: { a: 'x'.repeat(17_000) } }, ['body', 'filter']],
      [
        { name: 'x', access_control: { readers: Array.from({ length: 101 }, (_, i) => String(i)) } },
        ['body', 'access_control', 'readers'],
      ],
      [{ name: 'x', expires_after: { anchor: 'created_at', days: 1 } }, ['body', 'expires_after', 'anchor']],
      [
        { name: 'x', expires_after: { anchor: 'last_active_at', days: 0 } },
        ['body', 'expires_after', 'days'],
      ],
      [
        { name: 'x', expires_after: { anchor: 'last_active_at', days: 366 } },
        ['body', 'expires_after', 'days'],
      ],
    ];
    for (const [body, loc] of cases)
      expect(await send('POST', '/collections', body)).toMatchObject(named({}, ...loc));
    const strict = { Prefer: 'handling=strict' };
    expect(await send('POST', '/collections', { name: 'x', filters: {} }, strict)).toMatchObject(
      named({ msg: "extra fields not permitted; did you mean 'filter'?" }, 'body', 'filters'),
    );
    for (const cursor of ['x', 'AAAA', Buffer.from('1'.repeat(49)).toString('base64url')])
      expect(await send('GET', `/collections?cursor=${cursor}`)).toMatchObject(named({}, 'query', 'cursor'));
  });

  test('is one of at most 10,000 of its owner', async () => {
    const user = createUser(api, 'many');
    const most = Array.from({ length: MAX_OWN_COLLECTIONS - 1 }, (_, i) => String(i));
    await api.redis.sAdd(keys.ownCollections(user.name), most);
    await make(user);
    expect(await user.send('POST', '/collections', { name: 'one more' })).toMatchObject({
      status: 409,
      body: { detail: 'You have 10000 collections already: delete one first' },
    });
  });

  test('hides itself alone where its record is malformed', async () => {
    const user = createUser(api, 'malformed');
    const [broken, whole] = [await make(user), await make(user)];
    await api.redis.hSet(keys.collection(broken), 'access', '{');
    expect(viewsOf(await user.get('/collections')).map(({ id }) => id)).toEqual([whole]);
  });
});

describe('the list of collections', () => {
  test('goes page by page in both directions, and repeats and leaves out nothing', async () => {
    const user = createUser(api, 'lister');
    const ids: string[] = [];
    for (let i = 0; i < 7; i += 1) ids.push(await make(user, { name: `c${String(i)}` }));
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let path: string | null = `/collections?limit=3&order=${order}`;
      let pages = 0;
      while (path !== null) {
        const answer: ApiAnswer = await user.get(path);
        seen.push(...viewsOf(answer).map(({ id }) => id));
        // A new one belongs before or behind all that are there.
        if (pages === 0 && order === 'desc') await make(user);
        const link: RegExpExecArray | null = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '');
        path = link ? new URL(link[1] ?? '').pathname + new URL(link[1] ?? '').search : null;
        pages += 1;
      }
      expect(pages).toBe(3);
      // Those that were made in the same millisecond are ordered by their ids.
      expect([...seen].sort()).toEqual([...ids].sort());
    }
  });

  test('has no collection of an owner whom the caller has blocked', async () => {
    const [mallory, victim] = [createUser(api, 'mallory'), createUser(api, 'victim')];
    const own = await make(victim);
    const shared = await make(mallory, { access_control: { readers: [victim.name] } });
    const listed = async () => new Set(viewsOf(await victim.get('/collections')).map(({ id }) => id));
    expect(await listed()).toEqual(new Set([own, shared]));
    await victim.send('PUT', '/sharing/blocked/mallory');
    expect(await listed()).toEqual(new Set([own]));
  });
});

describe('a collection of somebody else', () => {
  const rights = async () => {
    const users = ['owner', 'admin', 'writer', 'reader', 'stranger'].map((name) =>
      createUser(api, `of-${name}`),
    );
    const [owner, admin, writer, reader, stranger] = users;
    if (!owner || !admin || !writer || !reader || !stranger) throw new Error('there are five');
    const access_control = { readers: [reader.name], writers: [writer.name], admins: [admin.name] };
    const id = await make(owner, { access_control });
    const document = await owner.ingest('heron', {
      access_control: { writers: users.map(({ name }) => name) },
    });
    return { owner, admin, writer, reader, stranger, id, document };
  };

  test('is the same 404 as none on every route for who may not read it', async () => {
    const { stranger, id, document } = await rights();
    const routes = (name: string): [string, string, unknown?][] => [
      ['GET', `/collections/${name}`],
      ['PATCH', `/collections/${name}`, { name: 'mine' }],
      ['PATCH', `/collections/${name}`, { access_control: { readers: [stranger.name] } }],
      ['DELETE', `/collections/${name}`],
      ['DELETE', `/collections/${name}?documents=delete`],
      ['POST', `/collections/${name}/documents`, { add: [document] }],
      ['PUT', `/collections/${name}/documents/${document}`],
      ['DELETE', `/collections/${name}/documents/${document}`],
      ['GET', `/documents?collection=${name}`],
      ['POST', '/ingest/text', { content: 'x', collection: name }],
    ];
    for (const asked of [id, UNKNOWN, 'x'])
      for (const [method, path, body] of routes(asked))
        expect({ method, path, ...(await stranger.send(method, path, body)) }).toMatchObject({
          method,
          path,
          ...notFound(asked),
        });
    expect(
      await stranger.send('POST', '/ingest/batch', { documents: [{ content: 'x', collection: id }] }),
    ).toMatchObject({
      status: 200,
      body: [{ index: 0, error: { msg: `Collection '${id}' not found` } }],
    });
    expect(viewsOf(await stranger.get('/collections'))).toEqual([]);
    expect(idsOf(await stranger.get('/documents?collection=' + (await make(stranger))))).toEqual([]);
  });

  test('is read, written and shared by those whom its lists name for it, and by nobody from whom it was closed', async () => {
    const { owner, admin, writer, reader, id, document } = await rights();
    const path = `/collections/${id}`;
    for (const user of [owner, admin, writer, reader]) {
      expect((await user.get(path)).status).toBe(200);
      expect(viewsOf(await user.get('/collections')).map((each) => each.id)).toContain(id);
    }
    const writes: [string, string, unknown?][] = [
      ['PATCH', path, { name: 'x' }],
      ['PUT', `${path}/documents/${document}`],
      ['POST', `${path}/documents`, { add: [document], remove: [] }],
      ['DELETE', `${path}/documents/${document}`],
    ];
    for (const [method, address, body] of writes) {
      expect(await reader.send(method, address, body)).toMatchObject(forbidden);
      for (const user of [owner, admin, writer])
        expect((await user.send(method, address, body)).status).toBeLessThan(203);
    }
    expect(await reader.send('DELETE', path)).toMatchObject(forbidden);
    const lists = { access_control: { readers: [], admins: [admin.name] } };
    expect(await writer.send('PATCH', path, lists)).toMatchObject(forbidden);
    expect((await admin.send('PATCH', path, lists)).status).toBe(200);
    expect(await reader.get(path)).toMatchObject(notFound(id));
    expect(viewsOf(await reader.get('/collections')).map((each) => each.id)).not.toContain(id);
    expect(await admin.send('PATCH', path, { access_control: { admins: [] } })).toMatchObject({
      status: 422,
    });
  });

  test('gives no right to any document in it, and takes none from whom it names', async () => {
    const [owner, reader] = [createUser(api, 'giver'), createUser(api, 'taker')];
    const id = await make(owner, { access_control: { readers: [reader.name], writers: [reader.name] } });
    const open = await owner.ingest('open', { access_control: { readers: [reader.name] } });
    const closed = await owner.ingest('closed');
    for (const document of [open, closed])
      expect((await owner.send('PUT', `/collections/${id}/documents/${document}`)).status).toBeLessThan(203);
    expect(idsOf(await owner.get(`/documents?collection=${id}`))).toEqual([closed, open]);
    expect(idsOf(await reader.get(`/documents?collection=${id}`))).toEqual([open]);
    expect(await reader.get(`/documents/${closed}`)).toMatchObject(forbidden);
    // Who may read a document and write the collection may take it out, and not put it in again.
    const path = `/collections/${id}/documents`;
    expect(await reader.send('DELETE', `${path}/${closed}`)).toMatchObject(forbidden);
    expect((await reader.send('DELETE', `${path}/${open}`)).status).toBeLessThan(203);
    expect(await reader.send('PUT', `${path}/${open}`)).toMatchObject(forbidden);
    expect(idsOf(await owner.get(`/documents?collection=${id}`))).toEqual([closed]);
  });
});

describe('documents of a collection', () => {
  test('are put in and taken out again and again, many at once, each with its outcome', async () => {
    const [user, other] = [createUser(api, 'mover'), createUser(api, 'neighbour')];
    const id = await make(user);
    const [a, b] = [await user.ingest('a'), await user.ingest('b')];
    const foreign = await other.ingest('c');
    const path = `/collections/${id}/documents`;
    const members = async () => new Set(idsOf(await user.get(`/documents?collection=${id}`)));
    for (let times = 0; times < 2; times += 1)
      expect((await user.send('PUT', `${path}/${a}`, undefined)).status).toBeLessThan(203);
    expect(await user.send('POST', path, { add: [b, foreign, UNKNOWN, 'x'], remove: [a] })).toMatchObject({
      status: 200,
      body: [
        { document_id: b, error: null },
        { document_id: foreign, error: { msg: 'Insufficient permissions' } },
        { document_id: UNKNOWN, error: { msg: 'Document not found' } },
        { document_id: 'x', error: { msg: 'Document not found' } },
        { document_id: a, error: null },
      ],
    });
    expect(await members()).toEqual(new Set([b]));
    for (let times = 0; times < 2; times += 1)
      expect((await user.send('DELETE', `${path}/${b}`)).status).toBeLessThan(203);
    expect(await members()).toEqual(new Set());
    const ids = Array.from({ length: 501 }, () => UNKNOWN);
    expect(await user.send('POST', path, { add: ids, remove: ids })).toMatchObject(named({}, 'body', 'add'));
    expect(await user.send('PUT', `${path}/${UNKNOWN}`)).toMatchObject({
      status: 404,
      body: { detail: 'Document not found' },
    });
  });

  test('are in 32 collections at most, of which those that are gone do not count', async () => {
    const user = createUser(api, 'everywhere');
    const document = await user.ingest('heron');
    const ids: string[] = [];
    for (let i = 0; i < 33; i += 1) ids.push(await make(user));
    const put = (id = '') => user.send('PUT', `/collections/${id}/documents/${document}`);
    for (const id of ids.slice(0, 32)) expect((await put(id)).status).toBeLessThan(203);
    expect(await put(ids[32])).toMatchObject(named({ ctx: { limit_value: 32 } }, 'path', 'document_id'));
    await user.send('DELETE', `/collections/${String(ids[0])}`);
    expect((await put(ids[32])).status).toBeLessThan(203);
    const { collections } = (await api.records.read(document)) ?? {};
    expect(collections).toEqual(ids.slice(1));
  });

  test('that match the filter of the collection are found, with any filter of the request', async () => {
    const user = createUser(api, 'filterer');
    const id = await make(user, { filter: { kind: 'final' } });
    const into = (metadata: Record<string, unknown>, collection?: string) =>
      user.send('POST', '/ingest/text', { content: JSON.stringify(metadata), metadata, collection });
    await into({ kind: 'draft', n: 1 }, id);
    const two = await into({ kind: 'final', n: 2 }, id);
    const three = await into({ kind: 'final', n: 3 }, id);
    await into({ kind: 'final', n: 2 });
    // A key of metadata is no membership.
    await into({ kind: 'final', $collections: id, collections: [id], 'system_metadata.collections': id });
    const idOf = (answer: ApiAnswer) => z.object({ external_id: z.string() }).parse(answer.body).external_id;
    const list = async (more = '') => idsOf(await user.get(`/documents?collection=${id}${more}`));
    expect(await list()).toEqual([three, two].map(idOf));
    expect(await list('&filters={"n":2}')).toEqual([idOf(two)]);
    expect((await user.get(`/documents?collection=${id}&total=true`)).headers.get('quire-total')).toBe('2');
    // The next page is one of the collection, too.
    const { headers } = await user.get(`/documents?collection=${id}&limit=1`);
    const next = new URL(/<(.*)>/.exec(headers.get('link') ?? '')?.[1] ?? '');
    expect(next.searchParams.get('collection')).toBe(id);
    expect(idsOf(await user.get(next.pathname + next.search))).toEqual([idOf(two)]);
    next.searchParams.delete('collection');
    expect(await user.get(next.pathname + next.search)).toMatchObject(named({}, 'query', 'cursor'));
    await user.send('PATCH', `/collections/${id}`, { filter: null });
    expect(await list()).toHaveLength(3);
  });

  test('are no matter to a collection that is deleted, and go with it where that is asked for', async () => {
    const [user, other] = [createUser(api, 'remover'), createUser(api, 'keeper')];
    const kept = await make(user);
    const document = await user.ingest('stays');
    await user.send('PUT', `/collections/${kept}/documents/${document}`);
    expect((await user.send('DELETE', `/collections/${kept}`)).status).toBe(200);
    expect((await user.get(`/documents/${document}`)).status).toBe(200);

    const id = await make(user, { access_control: { writers: [other.name] } });
    const own: string[] = [];
    for (let i = 0; i < 130; i += 1) own.push(await user.ingest(`text ${String(i)}`));
    expect((await user.send('POST', `/collections/${id}/documents`, { add: own })).status).toBe(200);
    const foreign = await other.ingest('foreign', { access_control: { readers: [user.name] } });
    await other.send('PUT', `/collections/${id}/documents/${foreign}`);
    const remove = () => user.send('DELETE', `/collections/${id}?documents=delete`);
    // Nobody waits here, so that one request deletes a page.
    const first = await remove();
    expect(first).toMatchObject({ status: 202, body: { success: false } });
    expect((await user.get(`/collections/${id}`)).status).toBe(200);
    expect(await remove()).toMatchObject({ status: 200, body: { success: true } });
    expect(await user.get(`/collections/${id}`)).toMatchObject(notFound(id));
    expect(new Set(idsOf(await user.get('/documents')))).toEqual(new Set([document, foreign]));
  });
});

describe('a collection that expires', () => {
  const DAY = 86_400_000;
  test('is gone from that moment on unless it is used, and the sweep removes what is left of it', async () => {
    const time = { now: Date.now() };
    const store = createCollectionStore(api.redis, { now: () => time.now });
    const user = createUser(api, 'passing');
    const id = await make(user, { expires_after: { anchor: 'last_active_at', days: 2 } });
    const staying = await make(user);
    time.now += 2 * DAY - 60_000;
    expect(await store.read(id)).not.toBeNull();
    expect(await store.removeExpired(10)).toBe(0);
    time.now += 120_000;
    expect(await store.read(id)).toBeNull();
    expect(await store.removeExpired(10)).toBe(1);
    expect(await store.removeExpired(10)).toBe(0);
    expect(await user.get(`/collections/${id}`)).toMatchObject(notFound(id));
    expect(viewsOf(await user.get('/collections')).map((each) => each.id)).toEqual([staying]);
  });

  test('lives on with each use, which is written once an hour', async () => {
    const user = createUser(api, 'living');
    const id = await make(user, { expires_after: { anchor: 'last_active_at', days: 1 } });
    const view = async () => viewOf(await user.get(`/collections/${id}`));
    const use = () => user.get(`/documents?collection=${id}`);
    const fresh = await view();
    await use();
    expect(await view()).toEqual(fresh);
    const store = createCollectionStore(api.redis);
    const earlier = Date.now() - DAY + 60_000;
    await store.update(id, (record) => ({ ...record, lastActiveAtMs: earlier }));
    expect(Date.parse((await view()).last_active_at)).toBe(earlier);
    await Promise.all([use(), use(), use()]);
    expect(Date.parse((await view()).last_active_at)).toBeGreaterThan(Date.now() - 60_000);
    await store.update(id, (record) => ({ ...record, lastActiveAtMs: Date.now() - DAY }));
    expect(await use()).toMatchObject(notFound(id));
    expect(await user.send('PATCH', `/collections/${id}`, { expires_after: null })).toMatchObject(
      notFound(id),
    );
  });
});
