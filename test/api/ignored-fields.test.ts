import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { outcomesOf } from '../support/batches.js';
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
const strict = { Prefer: 'respond-async, handling=strict' };
const ignoredBy = ({ headers }: { readonly headers: Headers }) => headers.get('quire-ignored');
const form = (fields: Readonly<Record<string, string>>, part = 'file') => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append(part, new Blob(['text']), 'a.txt');
  return body;
};
const upload = (body: FormData, headers: Record<string, string>, path = '/ingest/file') =>
  api.request(path, { method: 'POST', body, token: user.token, headers });

describe('fields that no route knows', () => {
  test('are named in the answer, in bodies, objects and query strings, also of an error', async () => {
    const text = { content: 'text', metdata: {}, access_control: { reader: ['bob'] } };
    const made = await user.send('POST', '/ingest/text?wait=3', text, soon);
    expect([made.status, ignoredBy(made)]).toEqual([202, 'wait, metdata, access_control.reader']);
    expect(made.headers.get('preference-applied')).toBe('respond-async');
    const wrong = await user.send('POST', '/ingest/text', { contents: 'text' });
    expect([wrong.status, ignoredBy(wrong)]).toEqual([422, 'contents']);
    expect(ignoredBy(await user.get('/documents?filter={"a":1}&limit=5'))).toBe('filter');
    expect(ignoredBy(await user.get('/documents/none?verbose=1'))).toBe('verbose');
    expect(ignoredBy(await user.get('/documents'))).toBeNull();
    expect(ignoredBy(await user.get('/documents?=1&b=2'))).toBe('"", b');
  });

  test('are refused where the request wants that, with all other mistakes', async () => {
    const { status, body, headers } = await user.send('POST', '/ingest/text', { contents: 'text' }, strict);
    expect([status, headers.get('preference-applied')]).toEqual([422, 'handling=strict']);
    expect(body).toEqual({
      detail: [
        {
          loc: ['body', 'contents'],
          msg: "extra fields not permitted; did you mean 'content'?",
          type: 'value_error.extra',
        },
        { loc: ['body', 'content'], msg: 'field required', type: 'value_error.missing' },
      ],
    });
    const query = await user.send('GET', '/documents?filter={}', undefined, strict);
    expect(query.body).toMatchObject({ detail: [{ loc: ['query', 'filter'], type: 'value_error.extra' }] });
    const right = await user.send('POST', '/ingest/text', { content: 'text' }, strict);
    expect([right.status, right.headers.get('preference-applied')]).toEqual([
      202,
      'respond-async, handling=strict',
    ]);
  });

  test('of a form are named, or end the upload', async () => {
    const made = await upload(form({ metdata: '{}', 'content type': 'x' }), soon);
    expect([made.status, ignoredBy(made)]).toEqual([202, 'metdata, content%20type']);
    const before = await api.storedFiles();
    const refused = await upload(form({ metdata: '{}' }), strict);
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { detail: [{ loc: ['body', 'metdata'], msg: expect.stringContaining("'metadata'") }] },
    ]);
    expect(await api.storedFiles()).toEqual(before);
    const id = documentOf(made).external_id;
    const put = await api.request(`/documents/${id}/content`, {
      method: 'PUT',
      body: form({ metadata: '{}' }),
      token: user.token,
      headers: soon,
    });
    expect(ignoredBy(put)).toBe('metadata');
    const wrongPart = await upload(form({}, 'files'), soon);
    expect([wrongPart.status, ignoredBy(wrongPart)]).toEqual([422, 'files']);
    expect(ignoredBy(await upload(form({ rules: '[]' }, 'files'), soon, '/ingest/files'))).toBe('rules');
  });

  test('of items are named with the item, and refused with it alone', async () => {
    const documents = [{ content: 'one' }, { content: 'two', metdata: {} }, { content: 'three', ocr: 'off' }];
    const made = await user.send('POST', '/ingest/batch', { documents, on_duplicates: 'new' }, soon);
    expect([made.status, ignoredBy(made)]).toEqual([202, 'on_duplicates, documents.1.metdata']);
    expect(outcomesOf(made.body).map(({ ignored }) => ignored)).toEqual([undefined, ['metdata'], undefined]);
    const refused = await user.send('POST', '/ingest/batch', { documents }, strict);
    expect(outcomesOf(refused.body).map(({ error }) => error?.loc)).toEqual([
      undefined,
      ['body', 'metdata'],
      undefined,
    ]);
    const whole = await user.send('POST', '/ingest/batch', { documents, on_duplicates: 'new' }, strict);
    expect(whole.body).toMatchObject({ detail: [{ loc: ['body', 'on_duplicates'] }] });
  });

  test('of lines are named with each line', async () => {
    const body = '{"content":"one","filename ":"x"}\n{"content":"two"}\n';
    const headers = { ...soon, 'Content-Type': 'application/x-ndjson' };
    const answer = await api.request('/ingest/batch', { method: 'POST', body, token: user.token, headers });
    expect(ignoredBy(answer)).toBe('0.filename%20');
    const lines = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { ignored?: string[] });
    expect(lines.map(({ ignored }) => ignored)).toEqual([['filename%20'], undefined]);
  });
});
