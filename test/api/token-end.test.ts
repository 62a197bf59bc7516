import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineRoute, type Route } from '../../src/api/http/route.js';
import { AbandonedError } from '../../src/api/services/abandoned-error.js';
import { inSeconds, jsonBody, makeToken, startApi } from '../support/api.js';
import { linesOf, ndjson } from '../support/batches.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { openRaw } from '../support/raw-http.js';
import { until } from '../support/until.js';

/** A token that ends in one to two seconds, since tokens end at whole ones. */
const shortToken = () => makeToken({ exp: inSeconds(2) });
const ENDED = { type: 'error', status: 401, detail: 'The token has expired' };

const event = z.object({ n: z.number() });

const events = (make: (signal: AbortSignal) => AsyncIterable<z.infer<typeof event>>): Route =>
  defineRoute({
    method: 'get',
    path: '/events',
    tag: 'Test',
    audit: null,
    permission: 'read',
    summary: 'Streams',
    request: {},
    responses: { 200: event },
    events: event,
    handle: ({ whileValid }, reply) => Promise.resolve(reply.events(make(whileValid()), (each) => each)),
  });

describe('a stream of events', () => {
  /** A route whose events go on for ever, and what its producer was told. */
  function endless({ heedsSignal = true } = {}) {
    const told: unknown[] = [];
    const route = events(async function* (signal) {
      signal.addEventListener('abort', () => told.push(signal.reason));
      yield { n: 1 };
      if (heedsSignal) for (;;) yield await sleep(50, { n: 2 }, { signal });
      else await sleep(60_000, undefined, { ref: false });
    });
    return { route, told };
  }

  test.each([true, false])(
    'ends with its token, whether or not its producer heeds that (%s)',
    async (heedsSignal) => {
      const { route, told } = endless({ heedsSignal });
      const api = await startApi({ routes: [route] });
      const { status, text } = await api.request('/events', { token: shortToken() });
      expect(status).toBe(200);
      expect(text).toMatch(/^data: {"n":1}\n\n/);
      expect(text.endsWith(`\n\nevent: error\ndata: ${JSON.stringify(ENDED)}\n\n`)).toBe(true);
      expect(told).toEqual([new AbandonedError('token_ended')]);
      await api.close();
    },
  );

  test('goes on under a token that lives on, and without one in dev mode', async () => {
    const { route } = endless();
    const api = await startApi({ routes: [route], devMode: true });
    for (const authorization of [`Authorization: Bearer ${makeToken()}\r\n`, '']) {
      const { socket, until: seen } = await openRaw(api.port);
      socket.write(`GET /events HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`);
      const begun = await seen(/"n":2/);
      await sleep(2_500);
      const later = await seen(/"n":2/);
      expect(later.length).toBeGreaterThan(begun.length);
      expect(later).not.toContain('event: error');
      socket.destroy();
    }
    await api.close();
  });

  test('whose token ends before its first event is refused', async () => {
    async function* late() {
      yield await sleep(8_000, { n: 1 }, { ref: false });
    }
    const route = events(late);
    const api = await startApi({ routes: [route] });
    const { status, headers, body } = await api.request('/events', { token: shortToken() });
    expect([status, headers.get('www-authenticate'), body]).toEqual([
      401,
      'Bearer',
      { detail: ENDED.detail },
    ]);
    await api.close();
  });
});

describe('documents', () => {
  let api: DocumentApi;
  beforeAll(async () => {
    api = await startDocumentApi({ waitSeconds: 20 });
  });
  afterAll(() => api.close());

  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

  test('of a stream of lines are taken until its token ends, and the next line gets that as its error', async () => {
    const { socket, until: seen } = await openRaw(api.port);
    const head = [
      'POST /ingest/batch HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${shortToken()}`,
      'Content-Type: application/x-ndjson',
      'Prefer: respond-async',
      'Transfer-Encoding: chunked',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${chunk(ndjson([{ content: 'a' }]))}`);
    await seen(/"index":0,"status":"queued"/);
    socket.write(chunk(ndjson([{ content: 'b' }])));
    const answer = await seen(/\r\n0\r\n\r\n$/);
    const lines = linesOf(
      answer
        .split('\r\n')
        .filter((line) => line.startsWith('{'))
        .join(''),
    );
    expect(lines).toEqual([
      expect.objectContaining({ index: 0, status: 'queued' }),
      expect.objectContaining({ index: 1, status: 'queued' }),
      { index: 2, error: { loc: ['body'], msg: ENDED.detail, type: 'auth_error.token_expired' } },
    ]);
    socket.destroy();
    await until(async () =>
      (await api.request('/documents', { token: makeToken() })).text.includes('queued'),
    );
  });

  test('are waited for until the token ends at the longest, by one request and by a batch', async () => {
    for (const [path, body] of [
      ['/ingest/text', { content: 'waited for' }],
      ['/ingest/batch', { documents: [{ content: 'one' }, { content: 'two' }] }],
    ] as const) {
      const started = performance.now();
      const { status } = await api.request(path, { ...jsonBody(body), token: shortToken() });
      expect([path, status]).toEqual([path, 202]);
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });
});
