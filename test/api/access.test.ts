import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeToken } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, idsOf } from '../support/document-client.js';

let api: DocumentApi;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 0 });
});
afterAll(async () => {
  await api.close();
});

const forbidden = [403, { detail: 'Insufficient permissions' }];

describe('who is in which list', () => {
  test('decides what may be done with a document', async () => {
    const owner = createUser(api, 'owner');
    const users = ['reader', 'writer', 'admin', 'stranger'].map((name) => createUser(api, name));
    const allowed: Record<string, readonly string[]> = {
      reader: ['read'],
      writer: ['read', 'write'],
      admin: ['read', 'write', 'change access'],
      stranger: [],
    };
    const access_control = { readers: ['reader'], writers: ['writer'], admins: ['admin'] };
    const id = await owner.ingestCompleted(['text'], { access_control });
    const attempts = [
      ['read', 'GET', '', undefined],
      ['read', 'GET', '/status', undefined],
      ['read', 'GET', '/chunks', undefined],
      ['read', 'GET', '/download', undefined],
      ['write', 'PATCH', '', { metadata: {} }],
      ['write', 'PUT', '/content', { content: 'text' }],
      ['write', 'POST', '/retry', undefined],
      ['write', 'POST', '/cancel', undefined],
      ['change access', 'PATCH', '', { access_control: { readers: ['reader'] } }],
    ] as const;
    for (const { name, send } of users) {
      for (const [right, method, path, body] of attempts) {
        const { status } = await send(method, `/documents/${id}${path}`, body);
        const expected = allowed[name]?.includes(right) === true ? [200, 202] : [403];
        expect([name, method, path, expected.includes(status)]).toEqual([name, method, path, true]);
      }
    }
    const deletions: [string, number][] = [];
    for (const { name, send } of users.toReversed()) {
      deletions.push([name, (await send('DELETE', `/documents/${id}`)).status]);
    }
    expect(deletions).toEqual([
      ['stranger', 403],
      ['admin', 200],
      ['writer', 404],
      ['reader', 404],
    ]);
  });

  test('is not overruled by the admin permission', async () => {
    const id = await createUser(api, 'private').ingest('private');
    const token = makeToken({ entity_id: 'operator', permissions: ['admin'] });
    const answer = await api.request(`/documents/${id}`, { token });
    expect([answer.status, answer.body]).toEqual(forbidden);
  });

  test('does not replace the permission of the token', async () => {
    const owner = createUser(api, 'limited');
    const id = await owner.ingest('mine');
    const token = makeToken({ entity_id: owner.name, permissions: ['read'] });
    expect((await api.request(`/documents/${id}`, { token })).status).toBe(200);
    expect((await api.request(`/documents/${id}`, { token, method: 'DELETE' })).status).toBe(403);
    const none = makeToken({ entity_id: owner.name, permissions: [] });
    expect((await api.request(`/documents/${id}`, { token: none })).status).toBe(403);
  });
});

describe('a change of access', () => {
  test('is in force with its response', async () => {
    const [owner, friend] = [createUser(api, 'changer'), createUser(api, 'friend')];
    const id = await owner.ingestCompleted(['text'], { access_control: { readers: [friend.name] } });
    expect(idsOf(await friend.get('/documents'))).toEqual([id]);
    const revoked = await owner.send('PATCH', `/documents/${id}`, { access_control: { readers: [] } });
    expect(documentOf(revoked).access_control).toEqual({
      readers: [],
      writers: [owner.name],
      admins: [owner.name],
    });
    for (const path of ['', '/status', '/chunks', '/download']) {
      const answer = await friend.get(`/documents/${id}${path}`);
      expect([answer.status, answer.body]).toEqual(forbidden);
    }
    expect(idsOf(await friend.get('/documents'))).toEqual([]);
  });

  test('leaves the lists that it does not name', async () => {
    const owner = createUser(api, 'keeper');
    const access_control = { readers: ['a'], writers: ['b'], admins: ['c'] };
    const id = await owner.ingest('text', { access_control });
    const changed = await owner.send('PATCH', `/documents/${id}`, {
      access_control: { writers: ['x'], readers: null },
    });
    expect(documentOf(changed).access_control).toEqual({
      readers: [owner.name, 'a'],
      writers: ['x'],
      admins: [owner.name, 'c'],
    });
  });

  test('can give a document away, owner or not', async () => {
    const [owner, heir] = [createUser(api, 'giver'), createUser(api, 'heir')];
    const id = await owner.ingest('text');
    const lists = { readers: [heir.name], writers: [heir.name], admins: [heir.name] };
    const given = await owner.send('PATCH', `/documents/${id}`, { access_control: lists });
    expect(documentOf(given).access_control).toEqual(lists);
    expect((await owner.get(`/documents/${id}`)).status).toBe(403);
    expect((await heir.get(`/documents/${id}`)).status).toBe(200);
  });

  test('must leave somebody who can change it again', async () => {
    const owner = createUser(api, 'last');
    const id = await owner.ingest('text');
    const answer = await owner.send('PATCH', `/documents/${id}`, { access_control: { admins: [] } });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      detail: [{ loc: ['body', 'access_control', 'admins'], type: 'value_error.list.min_items' }],
    });
  });

  test('has lists of at most 1,000 ids of 1 to 256 characters', async () => {
    const owner = createUser(api, 'bounded');
    const id = await owner.ingest('text');
    const change = async (readers: unknown) =>
      (await owner.send('PATCH', `/documents/${id}`, { access_control: { readers } })).status;
    expect(await change(Array.from({ length: 1000 }, (_, i) => String(i)))).toBe(202);
    expect(await change(Array.from({ length: 1001 }, (_, i) => String(i)))).toBe(422);
    expect(await change(['x'.repeat(257)])).toBe(422);
    expect(await change([''])).toBe(422);
    expect(await change([7])).toBe(422);
    expect(await change('alice')).toBe(422);
  });
});
