import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createRateLimit, type Windows } from '../../src/api/auth/rate-limit.js';
import { queryInteger } from '../../src/api/http/validation/field-schemas.js';
import { responsesOf } from '../../src/api/http/response/declared-responses.js';
import { defineRoute, type Route } from '../../src/api/http/route.js';
import { missingFiles } from '../../src/api/http/request/upload.js';
import { errorExample } from '../../src/api/pages/error-examples.js';
import { receiveFile } from '../../src/api/routes/ingest/upload-fields.js';
import { fileTooLarge } from '../../src/api/services/ingest/incoming.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { jsonBody, makeToken, startApi, type ApiClient } from '../support/api.js';
import { openRaw } from '../support/raw-http.js';

const common = { summary: 'For tests', tag: 'Test', audit: null, permission: 'write' } as const;
const responses = { 200: z.unknown() };

const texts = defineRoute({
  ...common,
  method: 'post',
  path: '/texts/{id}',
  request: { path: z.object({ id: z.string() }), body: z.object({ content: z.string() }) },
  responses,
  handle: ({ path: { id } }) =>
    Promise.reject(id === 'broken' ? new Error('a mistake') : new UnavailableError('redis')),
});
const files = defineRoute({
  ...common,
  method: 'post',
  path: '/files',
  request: {},
  upload: { fields: z.object({}), alsoJson: false },
  responses,
  handle: async ({ receiveUpload }, reply) => {
    if (!receiveUpload) throw missingFiles('file');
    const target = {
      maxBytes: 104_857_600,
      tooLarge: () => fileTooLarge(104_857_600),
      store: () => Promise.resolve(1),
    };
    return reply.json(200, await receiveFile(receiveUpload)(target));
  },
});
const list = defineRoute({
  ...common,
  method: 'get',
  path: '/texts',
  request: { query: z.object({ limit: queryInteger() }) },
  responses,
  handle: (_request, reply) => Promise.resolve(reply.json(200, [])),
});

const json = jsonBody({ content: 'Rent' });
const token = makeToken();
const post = (body: string, type: string) => ({
  method: 'POST',
  token,
  body,
  headers: { 'Content-Type': type },
});

type Provoke = (api: ApiClient) => Promise<{ readonly text: string }>;

/** The answers with each status that the kind of a route implies. */
const provoked: readonly (readonly [status: number, route: Route, provoke: Provoke])[] = [
  [400, files, (api) => api.request('/files', post('x', 'multipart/form-data; boundary=y'))],
  [401, texts, (api) => api.request('/texts/1', json)],
  [403, texts, (api) => api.request('/texts/1', { ...json, token: makeToken({ permissions: ['read'] }) })],
  [404, texts, (api) => api.request('/texts/%ff', { ...json, token })],
  [408, texts, sendSlowly],
  [413, texts, (api) => api.request('/texts/1', post('x'.repeat(8_388_609), 'application/json'))],
  [413, files, announceLargeFile],
  [415, texts, (api) => api.request('/texts/1', post('x', 'text/plain'))],
  [415, files, (api) => api.request('/files', post('{}', 'application/json'))],
  [422, texts, (api) => api.request('/texts/1', post('{', 'application/json'))],
  [422, files, (api) => api.request('/files', { method: 'POST', token, body: emptyForm() })],
  [422, list, (api) => api.request('/texts?limit=many', { token })],
  [429, texts, (api) => api.request('/texts/1', { ...json, token: makeToken({ entity_id: 'mallory' }) })],
  [500, texts, (api) => api.request('/texts/broken', { ...json, token })],
  [503, texts, (api) => api.request('/texts/1', { ...json, token })],
];

let api: ApiClient;
beforeAll(async () => {
  const windows: Windows = {
    take: ([window]) => Promise.resolve(window?.key.includes('mallory') === true ? 9_000 : 0),
    giveBack: () => Promise.resolve(),
  };
  const rateLimit = createRateLimit(windows, { perMinute: 1 });
  api = await startApi({ routes: [texts, files, list], rateLimit, bodyGraceSeconds: 1 });
});
afterAll(() => api.close());

test('every status that the kind of a route implies is provoked here', () => {
  const implied = [texts, files, list].flatMap((route) => [...responsesOf(route).keys()]);
  const missing = implied.filter((status) => status !== 200 && !provoked.some(([each]) => each === status));
  expect(missing).toEqual([]);
});

test.each(provoked)('%i is answered as the OpenAPI page shows', async (status, route, provoke) => {
  const { text } = await provoke(api);
  expect(JSON.parse(text)).toEqual(errorExample(route, status));
});

/** Sends the head of a request with a body of JSON, and nothing of the body that it announces. */
function sendSlowly({ port }: ApiClient): Promise<{ readonly text: string }> {
  return sendHead(port, '/texts/1', ['Content-Type: application/json', 'Content-Length: 20']);
}

function announceLargeFile({ port }: ApiClient): Promise<{ readonly text: string }> {
  return sendHead(port, '/files', [
    'Content-Type: multipart/form-data; boundary=y',
    'Content-Length: 999999999',
  ]);
}

async function sendHead(
  port: number,
  path: string,
  headers: readonly string[],
): Promise<{ readonly text: string }> {
  const { socket, until } = await openRaw(port);
  const head = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`, ...headers];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const answer = await until(/\r\n\r\n\{.*\}/);
  socket.destroy();
  return { text: answer.slice(answer.indexOf('{')) };
}

/** A form without a file. */
function emptyForm(): FormData {
  const form = new FormData();
  form.set('metadata', '{}');
  return form;
}
