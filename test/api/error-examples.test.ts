import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createRateLimit } from '../../src/api/auth/rate-limit.js';
import type { Windows } from '../../src/api/auth/windows.js';
import { defineRoute } from '../../src/api/http/route.js';
import { errorExamples } from '../../src/api/pages/error-examples.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { jsonBody, makeToken, startApi, type ApiClient } from '../support/api.js';
import { openRaw } from '../support/raw-http.js';

const common = { summary: 'For tests', tag: 'Test', permission: 'write' } as const;
const responses = { 200: z.unknown() };

const routes = [
  defineRoute({
    ...common,
    method: 'post',
    path: '/texts/{id}',
    request: { path: z.object({ id: z.string() }), body: z.object({ content: z.string() }) },
    responses,
    handle: ({ path: { id } }) =>
      Promise.reject(id === 'broken' ? new Error('a mistake') : new UnavailableError('redis')),
  }),
  defineRoute({
    ...common,
    method: 'post',
    path: '/files',
    request: {},
    upload: { fields: z.object({}), alsoJson: false },
    responses,
    handle: async ({ receiveUpload }, reply) => {
      const receive = { maxFileBytes: 9, fields: {}, storeFile: () => Promise.resolve(1) };
      return reply.json(200, await receiveUpload?.(receive));
    },
  }),
];

const json = jsonBody({ content: 'Rent' });
const token = makeToken();

/** What is answered with each status that the kind of a route implies. */
const provoked: Readonly<Record<number, (api: ApiClient) => Promise<{ readonly text: string }>>> = {
  400: (api) =>
    api.request('/files', {
      method: 'POST',
      token,
      body: 'x',
      headers: { 'Content-Type': 'multipart/form-data; boundary=y' },
    }),
  401: (api) => api.request('/texts/1', json),
  403: (api) => api.request('/texts/1', { ...json, token: makeToken({ permissions: ['read'] }) }),
  404: (api) => api.request('/texts/%ff', { ...json, token }),
  408: sendSlowly,
  413: (api) => api.request('/texts/1', { ...jsonBody({ content: 'x'.repeat(8_388_608) }), token }),
  415: (api) => api.request('/texts/1', { method: 'POST', body: 'x', token }),
  422: (api) => api.request('/texts/1', { ...jsonBody({}), token }),
  429: (api) => api.request('/texts/1', { ...json, token: makeToken({ entity_id: 'mallory' }) }),
  500: (api) => api.request('/texts/broken', { ...json, token }),
  503: (api) => api.request('/texts/1', { ...json, token }),
};

let api: ApiClient;
beforeAll(async () => {
  const windows: Windows = {
    take: ([window]) => Promise.resolve(window?.key.includes('mallory') === true ? 9_000 : 0),
    giveBack: () => Promise.resolve(),
  };
  const rateLimit = createRateLimit(windows, { perMinute: 1 });
  api = await startApi({ routes, rateLimit, bodyGraceSeconds: 1 });
});
afterAll(() => api.close());

test('every error that the kind of a route implies is provoked here', () => {
  const withExample = Object.entries(errorExamples).filter(([, { example }]) => example !== undefined);
  expect(Object.keys(provoked)).toEqual(withExample.map(([status]) => status));
});

test.each(Object.keys(provoked).map(Number))('%i is answered as the OpenAPI page shows', async (status) => {
  const { text } = (await provoked[status]?.(api)) ?? { text: 'null' };
  expect(JSON.parse(text)).toEqual(errorExamples[status]?.example);
});

/** Sends the head of a request, and nothing of the body that it announces. */
async function sendSlowly({ port }: ApiClient): Promise<{ readonly text: string }> {
  const { socket, until } = await openRaw(port);
  const head = [
    'POST /texts/1 HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 20',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const answer = await until(/\r\n\r\n\{.*\}/);
  socket.destroy();
  return { text: answer.slice(answer.indexOf('{')) };
}
