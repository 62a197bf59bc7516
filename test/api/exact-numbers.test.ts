import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { outcomesOf } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, idsOf, type User } from '../support/document-client.js';

let api: DocumentApi;
let user: User;
const soon = { Prefer: 'respond-async' };
const ID = '1546130668394913822';

beforeAll(async () => {
  api = await startDocumentApi();
  user = createUser(api, 'alice');
});
afterAll(async () => {
  await api.close();
});

/** Sends JSON as it is written, since numbers of JavaScript have lost their digits already. */
const send = (method: string, path: string, body: string) =>
  api.request(path, {
    method,
    body,
    token: user.token,
    headers: { 'Content-Type': 'application/json', ...soon },
  });
const refusal = (loc: (string | number)[]) => ({
  detail: [{ loc, msg: expect.stringContaining('string'), type: 'value_error.number.not_exact' }],
});

describe('a number that a double would change', () => {
  test('is refused in the metadata of a text, of a change and of a large body', async () => {
    const metadata = `"metadata":{"nested":[{"id":${ID}}]}`;
    const loc = ['body', 'metadata', 'nested', 0, 'id'];
    const text = await send('POST', '/ingest/text', `{"content":"text",${metadata}}`);
    expect([text.status, text.body]).toEqual([422, refusal(loc)]);
    const id = await user.ingest('text');
    const patch = await send('PATCH', `/documents/${id}`, `{${metadata}}`);
    expect([patch.status, patch.body]).toEqual([422, refusal(loc)]);
    const large = await send('POST', '/ingest/text', `{"content":"${'text '.repeat(80_000)}",${metadata}}`);
    expect([large.status, large.body]).toEqual([422, refusal(loc)]);
  });

  test('is refused in an item of a batch, and the others go in', async () => {
    const body = `{"documents":[{"content":"one","metadata":{"id":${ID}}},{"content":"two","metadata":{"id":"${ID}"}}]}`;
    const [one, two] = outcomesOf((await send('POST', '/ingest/batch', body)).body);
    expect(one?.error).toMatchObject({
      loc: ['body', 'metadata', 'id'],
      type: 'value_error.number.not_exact',
    });
    expect(two?.status).toBe('queued');
  });

  test('is refused in the metadata of an upload, for one file and for many', async () => {
    for (const [path, part, metadata] of [
      ['/ingest/file', 'file', `{"id":${ID}}`],
      ['/ingest/files', 'files', `{"id":${ID}}`],
      ['/ingest/files', 'files', `[{"id":${ID}}]`],
    ] as const) {
      const body = new FormData();
      body.append('metadata', metadata);
      body.append(part, new Blob(['text']), 'a.txt');
      const answer = await api.request(path, { method: 'POST', body, token: user.token, headers: soon });
      const item = { loc: ['body', 'metadata', 'id'], type: 'value_error.number.not_exact' };
      if (part === 'file') expect([answer.status, answer.body]).toMatchObject([422, { detail: [item] }]);
      else expect(outcomesOf(answer.body)).toMatchObject([{ error: item }]);
    }
  });

  test.each([
    [`{"id":${ID}}`, ['id']],
    [`{'id': ${ID}}`, ['id']],
    [`{"id":{"$in":[1,${ID}]}}`, ['id', '$in', 1]],
    [`{"id":{"$gt":1e400}}`, ['id', '$gt']],
    [`{'$or': [{'id': {'$lte': -9007199254740993}}]}`, ['$or', 0, 'id', '$lte']],
  ])('is refused in the filter %s of a query string', async (filter, loc) => {
    const answer = await user.get(`/documents?filters=${encodeURIComponent(filter)}`);
    expect([answer.status, answer.body]).toEqual([422, refusal(['query', 'filters', ...loc])]);
  });
});

test('numbers that a double holds are stored, shown and found as they are', async () => {
  const own = createUser(api, 'numbers');
  const numbers = '{"a":9007199254740992,"b":-1e+22,"c":0.1,"d":1.5e-7,"e":0.10000000000000001,"f":0.0}';
  const text = await api.request('/ingest/text', {
    method: 'POST',
    body: `{"content":"text","metadata":${numbers}}`,
    token: own.token,
    headers: { 'Content-Type': 'application/json', ...soon },
  });
  expect(text.text).toContain(
    '"metadata":{"a":9007199254740992,"b":-1e+22,"c":0.1,"d":1.5e-7,"e":0.1,"f":0}',
  );
  const filter = encodeURIComponent('{"a":9007199254740992,"e":0.1}');
  expect(idsOf(await own.get(`/documents?filters=${filter}`))).toHaveLength(1);
});

test('the numbers of a request itself are compared with their bounds only', async () => {
  const answer = await user.get('/documents?limit=99999999999999999999');
  expect(answer.body).toMatchObject({ detail: [{ loc: ['query', 'limit'] }] });
});
