import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, type User } from '../support/document-client.js';

let api: DocumentApi;
let user: User;

beforeAll(async () => {
  api = await startDocumentApi();
  user = createUser(api, 'alice');
});
afterAll(async () => {
  await api.close();
});

const soon = { Prefer: 'respond-async' };
const merge = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  user.send('PATCH', `/documents/${id}`, body, {
    ...soon,
    'Content-Type': 'application/merge-patch+json',
    ...headers,
  });
const replace = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  user.send('PATCH', `/documents/${id}`, body, { ...soon, ...headers });
const documentAt = async (id: string) => documentOf(await user.get(`/documents/${id}`));
const tagOf = async (id: string) => (await user.get(`/documents/${id}`)).headers.get('etag') ?? '';

describe('PATCH with a merge patch', () => {
  test('changes and removes single keys of the metadata, also within objects, and keeps the others', async () => {
    const metadata = { a: 1, b: { c: 2, d: [3] }, e: 'x', n: null };
    const id = await user.ingest('text', { metadata });
    const answer = await merge(id, { metadata: { a: null, b: { c: 5, d: null, f: {} }, g: [1, null] } });
    expect(answer.status).toBe(202);
    expect((await documentAt(id)).metadata).toEqual({ b: { c: 5, f: {} }, e: 'x', g: [1, null], n: null });
  });

  test('of ten keys by ten clients at once keeps all of them', async () => {
    const id = await user.ingest('text', { metadata: { first: true } });
    const keys = Array.from({ length: 10 }, (_, i) => `k${String(i)}`);
    const answers = await Promise.all(keys.map((key, i) => merge(id, { metadata: { [key]: i } })));
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 202));
    const expected = Object.fromEntries(keys.map((key, i) => [key, i]));
    expect((await documentAt(id)).metadata).toEqual({ first: true, ...expected });
  });

  test('takes away the metadata, the name and the readers by null, and never the admins', async () => {
    const access_control = { readers: ['bob'] };
    const id = await user.ingest('text', { metadata: { a: 1 }, filename: 'a.txt', access_control });
    await merge(id, {
      metadata: null,
      filename: null,
      access_control: { writers: null, readers: ['alice'] },
    });
    expect(await documentAt(id)).toMatchObject({
      metadata: {},
      filename: null,
      access_control: { readers: ['alice'], writers: [], admins: ['alice'] },
    });
    for (const [body, loc] of [
      [{ access_control: { admins: null } }, ['body', 'access_control', 'admins']],
      [{ access_control: null }, ['body', 'access_control']],
    ] as const) {
      const { status, body: answer } = await merge(id, body);
      expect([status, answer]).toMatchObject([
        422,
        { detail: [{ loc, type: 'type_error.none.not_allowed' }] },
      ]);
    }
  });

  test('must leave metadata that keep their limits', async () => {
    const half = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`a${String(i)}`, i]));
    const id = await user.ingest('text', { metadata: half });
    const more = Object.fromEntries(Array.from({ length: 29 }, (_, i) => [`b${String(i)}`, i]));
    const refused = await merge(id, { metadata: more });
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'metadata'], ctx: { limit_value: 128 } }] },
    ]);
    expect((await merge(id, { metadata: { ...more, a0: null } })).status).toBe(202);
    const wrong = await merge(id, { metadata: ['x'] });
    expect(wrong.body).toMatchObject({ detail: [{ loc: ['body', 'metadata'], type: 'type_error.dict' }] });
  });

  test('changes nothing where it says nothing', async () => {
    const id = await user.ingest('text', { metadata: { a: 1 } });
    const before = await documentAt(id);
    expect((await merge(id, {})).status).toBe(200);
    expect(await documentAt(id)).toEqual(before);
  });
});

describe('If-Match', () => {
  test('with the tag of an answer lets the first of two changes through', async () => {
    const id = await user.ingest('text', { metadata: { a: 1 } });
    const tag = await tagOf(id);
    expect(tag).toMatch(/^"1-[0-9a-f]{16}"$/);
    const first = await replace(id, { metadata: { a: 2 } }, { 'If-Match': tag });
    expect(first.status).toBe(202);
    expect(first.headers.get('etag')).toBe(await tagOf(id));
    const second = await merge(id, { metadata: { b: 2 } }, { 'If-Match': tag });
    expect(second.status).toBe(412);
    expect((await documentAt(id)).metadata).toEqual({ a: 2 });
    expect((await merge(id, { metadata: { b: 2 } }, { 'If-Match': `"x", ${await tagOf(id)}` })).status).toBe(
      202,
    );
  });

  test.each(['"1"', '1', '*', '"0", "1"'])('%s lets a change of version 1 through', async (value) => {
    const id = await user.ingest('text');
    expect((await merge(id, { metadata: { a: 1 } }, { 'If-Match': value })).status).toBe(202);
    expect((await merge(id, { metadata: { a: 2 } }, { 'If-Match': value })).status).toBe(202);
  });

  test.each(['"2"', 'W/"1"', '""', '"1-0000000000000000"', '1;', '"'])(
    '%s lets no change through',
    async (value) => {
      const id = await user.ingest('text');
      expect((await merge(id, { metadata: { a: 1 } }, { 'If-Match': value })).status).toBe(412);
      expect((await replace(id, { access_control: { readers: [] } }, { 'If-Match': value })).status).toBe(
        412,
      );
      const put = await user.send(
        'PUT',
        `/documents/${id}/content`,
        { content: 'new' },
        { ...soon, 'If-Match': value },
      );
      expect(put.status).toBe(412);
      expect((await user.send('DELETE', `/documents/${id}`, undefined, { 'If-Match': value })).status).toBe(
        412,
      );
      expect(await documentAt(id)).toMatchObject({ metadata: {}, system_metadata: { version: 1 } });
    },
  );

  test('names a state that only changes with what callers change', async () => {
    const id = await user.ingestCompleted(['text']);
    const tag = await tagOf(id);
    await replace(id, { metadata: { a: 1 } });
    expect(await tagOf(id)).not.toBe(tag);
    await replace(id, { metadata: {} });
    expect(await tagOf(id)).toBe(tag);
    const put = await user.send(
      'PUT',
      `/documents/${id}/content`,
      { content: 'new' },
      { ...soon, 'If-Match': '"1"' },
    );
    expect([put.status, put.headers.get('etag')?.slice(0, 3)]).toEqual([202, '"2-']);
    expect(
      (await user.send('DELETE', `/documents/${id}`, undefined, { 'If-Match': await tagOf(id) })).status,
    ).toBe(200);
  });

  test('says nothing of a document to those who may not change it, and of none that is not there', async () => {
    const id = await user.ingest('text');
    const other = createUser(api, 'mallory');
    const headers = { 'If-Match': '"9"' };
    expect((await other.send('PATCH', `/documents/${id}`, {}, headers)).status).toBe(403);
    const missing = '00000000-0000-4000-8000-000000000000';
    expect((await other.send('PATCH', `/documents/${missing}`, {}, headers)).status).toBe(404);
  });
});
