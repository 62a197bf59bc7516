import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { jsonBody, makeToken, startApi, type ApiClient } from '../support/api.js';
import { createTestRoutes } from '../support/test-routes.js';

describe('the API', () => {
  let api: ApiClient;
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    api = await startApi({
      routes: createTestRoutes(),
      maxJsonBytes: 2000,
      onLog: (line) => lines.push(line),
    });
  });
  afterAll(() => api.close());
  const post = (path: string, body: string, type = 'application/json') =>
    api.request(path, { method: 'POST', body, headers: { 'Content-Type': type } });

  describe('requests', () => {
    test('every response is JSON with Content-Type: application/json', async () => {
      for (const path of ['/things/a', '/nowhere', '/fail/bug']) {
        expect((await api.request(path)).headers.get('content-type')).toBe('application/json');
      }
    });

    test("every response carries X-Request-Id: the caller's, if it sent a sane one", async () => {
      const ask = async (id: string) => {
        const { body, headers } = await api.request('/things/a', { headers: { 'X-Request-Id': id } });
        expect(body).toMatchObject({ requestId: headers.get('x-request-id') });
        return headers.get('x-request-id');
      };
      expect(await ask('order-4711:2')).toBe('order-4711:2');
      expect(await ask('two words')).toMatch(/^[0-9a-f-]{36}$/);
      expect(await ask('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
      expect((await api.request('/nowhere')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    });

    test('the log has a line for each request, with its id and without its query', async () => {
      const headers = { 'X-Request-Id': 'log-me', Authorization: `Bearer ${makeToken()}` };
      await api.request('/things/a?secret=s3cret', { headers });
      const [line] = lines.filter(({ requestId }) => requestId === 'log-me');
      expect(line).toMatchObject({
        method: 'GET',
        path: '/things/a',
        route: '/things/{id}',
        status: 200,
        callerId: 'alice',
      });
      const text = JSON.stringify(lines);
      expect(text).not.toContain('s3cret');
      expect(text).not.toContain('Bearer');
    });

    test('unknown JSON fields are ignored, null in an optional field counts as absent', async () => {
      const answer = await api.request('/things/a', jsonBody({ name: 'x', count: null, more: 1 }));
      expect(answer).toMatchObject({ status: 200, body: { name: 'x' } });
    });

    test('all failures are listed: of path, query and body', async () => {
      const answer = await api.request('/things/a-b?limit=101', jsonBody({ count: -1 }));
      expect(answer.status).toBe(422);
      const { detail } = answer.body as { detail: { loc: unknown; type: string }[] };
      expect(detail.map(({ loc, type }) => [loc, type])).toEqual([
        [['path', 'id'], 'value_error.str.regex'],
        [['query', 'limit'], 'value_error.number.not_le'],
        [['body', 'name'], 'value_error.missing'],
        [['body', 'count'], 'value_error.number.not_ge'],
      ]);
    });

    test.each(['{', '', '{"name":"x"', "{'name':'x'}", '{"name":"\u0000"}', '{"name":NaN}', '\u00ff'])(
      'a body that is no JSON (%j) is a 422',
      async (text) => {
        const expected =
          text === ''
            ? ['field required', 'value_error.missing']
            : ['Invalid JSON', 'value_error.jsondecode'];
        expect((await post('/things/a', text)).body).toEqual({
          detail: [{ loc: ['body'], msg: expected[0], type: expected[1] }],
        });
      },
    );

    test('a body that is not UTF-8 is no JSON', async () => {
      const body = Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]);
      const answer = await api.request('/things/a', {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      });
      expect(answer.body).toMatchObject({ detail: [{ type: 'value_error.jsondecode' }] });
    });

    test.each(['null', '[]', '"x"', '3'])('a body that is no object (%s) is a 422', async (text) => {
      const { status, body } = await post('/things/a', text);
      expect(status).toBe(422);
      expect(body).toMatchObject({ detail: [{ loc: ['body'] }] });
    });

    test('a body of brackets without end is a 422, not a crash', async () => {
      expect(await post('/things/a', '['.repeat(1900))).toMatchObject({ status: 422 });
      expect(await post('/things/a', `{"name":"x","y":${'['.repeat(300)}${']'.repeat(300)}}`)).toMatchObject({
        status: 422,
      });
      expect(await post('/things/a', JSON.stringify({ name: `${'['.repeat(300)}\\"` }))).toMatchObject({
        status: 200,
      });
    });

    test('a byte order mark and a charset are fine', async () => {
      expect(await post('/things/a', '\ufeff{"name":"x"}', 'application/json; charset=UTF-8')).toMatchObject({
        status: 200,
      });
    });

    test.each([
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
    ])('a body of type %s is a 415', async (type) => {
      const answer = await post('/things/a', '{"name":"x"}', type);
      expect(answer).toMatchObject({
        status: 415,
        body: { detail: 'Content-Type must be application/json' },
      });
    });

    test('a body in another charset, or compressed, is a 415', async () => {
      expect(await post('/things/a', '{}', 'application/json; charset=latin1')).toMatchObject({
        status: 415,
      });
      const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
      expect(await api.request('/things/a', { method: 'POST', body: '{}', headers })).toMatchObject({
        status: 415,
      });
    });

    test('a JSON body over the limit is a 413 that names /ingest/file', async () => {
      const answer = await api.request('/things/a', jsonBody({ name: 'x'.repeat(2001) }));
      expect(answer.status).toBe(413);
      expect(answer.body).toEqual({ detail: expect.stringContaining('/ingest/file') });
      expect(await api.request('/things/a', jsonBody({ name: 'x'.repeat(1900) }))).toMatchObject({
        status: 200,
      });
    });

    test('a route without a body takes any', async () => {
      expect(await post('/bare', 'whatever', 'text/plain')).toMatchObject({ status: 200 });
      expect(await api.request('/bare', { method: 'POST' })).toMatchObject({ status: 200 });
    });

    test('the preferences of RFC 7240 reach the route', async () => {
      const ask = async (prefer: string) => (await api.request('/things/a', { headers: { prefer } })).body;
      const both = { waitSeconds: 10, respondAsync: true };
      expect(await ask('respond-async, wait=10')).toMatchObject({ prefer: both });
      expect(await ask('WAIT="10"; x=y , Respond-Async')).toMatchObject({ prefer: both });
      expect(await ask('wait=0, wait=5')).toMatchObject({ prefer: { waitSeconds: 0, respondAsync: false } });
      for (const nonsense of ['wait=121', 'wait=-1', 'wait=soon', 'wait=1.5', 'wait', 'foo="a, wait=5"']) {
        expect(await ask(nonsense)).toMatchObject({ prefer: { waitSeconds: null, respondAsync: false } });
      }
    });

    test('query strings are decoded; of a parameter given twice the last counts', async () => {
      expect((await api.request('/things/a?limit=1&limit=%32')).body).toMatchObject({ limit: 2 });
      expect(await api.request('/things/a?limit=%zz')).toMatchObject({ status: 422 });
      expect((await api.request('/things/a%20b%2Fc')).body).toMatchObject({ id: 'a b/c' });
    });

    test('a path that cannot be decoded is one that we do not have', async () => {
      const detail = expect.stringMatching(/^Not Found/);
      expect(await api.request('/things/%ff')).toMatchObject({ status: 404, body: { detail } });
    });
  });

  describe('an empty body, where the route takes one', () => {
    const create = (text: string, query = '') =>
      api.request(`/things/create${query}`, {
        method: 'POST',
        body: text,
        headers: { 'Content-Type': 'application/json' },
      });

    test('of no bytes, or of two quote characters, counts as {}', async () => {
      for (const text of ['', '""', ' "" \n', '{}']) {
        expect((await create(text)).body).toMatchObject({
          detail: [{ loc: ['body', 'name'], type: 'value_error.missing' }],
        });
        expect((await create(text, '?name=from%20query&count=3')).body).toEqual({
          name: 'from query',
          count: 3,
        });
      }
      expect((await api.request('/things/create?name=x', { method: 'POST' })).body).toEqual({ name: 'x' });
    });

    test('fields of the body win over the query string', async () => {
      expect((await create('{"name":"body","count":null}', '?name=query&count=2')).body).toEqual({
        name: 'body',
        count: 2,
      });
      expect((await create('{"count":1}', '?name=query&count=wrong')).body).toEqual({
        name: 'query',
        count: 1,
      });
    });

    test('a wrong parameter is told with its place', async () => {
      expect((await create('', '?name=x&count=many')).body).toMatchObject({
        detail: [{ loc: ['query', 'count'], type: 'type_error.integer' }],
      });
      expect((await create('', '?name=x&count=6')).body).toMatchObject({
        detail: [{ loc: ['body', 'count'], type: 'value_error.number.not_le' }],
      });
    });
  });

  describe('errors', () => {
    test('a 500 never shows a message, a stack or a path; the log has the cause', async () => {
      const answer = await api.request('/fail/bug');
      expect(answer).toMatchObject({ status: 500, body: { detail: 'Internal server error' } });
      expect(answer.text).not.toMatch(/hunter2|passwd|at /);
      expect(JSON.stringify(lines)).toContain('hunter2');
    });

    test('an HttpError keeps its status, detail and headers', async () => {
      const answer = await api.request('/fail/refused');
      expect(answer).toMatchObject({ status: 409, body: { detail: 'Not now' } });
      expect(answer.headers.get('retry-after')).toBe('7');
    });

    test('what does not answer now is a 503 with Retry-After', async () => {
      const answer = await api.request('/fail/away');
      expect(answer).toMatchObject({ status: 503, body: { detail: 'index is unavailable' } });
      expect(answer.headers.get('retry-after')).toBe('4');
    });

    test('an unknown path is a 404 that names the page of all paths', async () => {
      const detail = 'Not Found; /docs lists the paths of this service';
      for (const path of ['/nowhere', '/things', '/THINGS/a', '/things/a/b']) {
        expect(await api.request(path)).toMatchObject({ status: 404, body: { detail } });
      }
    });

    test('a known path by another method is a 405 that says what is allowed', async () => {
      const answer = await api.request('/things/a', { method: 'DELETE' });
      expect(answer).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } });
      expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
      expect(await api.request('/bare')).toMatchObject({ status: 405 });
      expect(await api.request('/things/create')).toMatchObject({ status: 200, body: { id: 'create' } });
    });
  });

  test('HEAD answers as GET without a body', async () => {
    const answer = await api.request('/things/a', { method: 'HEAD' });
    expect(answer).toMatchObject({ status: 200, text: '' });
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(10);
    expect(await api.request('/nowhere', { method: 'HEAD' })).toMatchObject({ status: 404, text: '' });
  });

  test('OPTIONS tells the methods of a path', async () => {
    const answer = await api.request('/things/a', { method: 'OPTIONS' });
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
  });
});
