import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Quire, type QuireOptions } from 'quire-client';
import { allOf, failureOf } from '../support/quire-client.js';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly atMs: number;
}
type Answer = (response: ServerResponse) => void;

const received: Received[] = [];
/** The answers that come first; then everything succeeds. */
const answers: Answer[] = [];
const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
const refuse = (status: number, headers: Record<string, string> = {}) =>
  json(status, { detail: 'not now' }, { 'x-request-id': 'r1', ...headers });
const hangUp: Answer = (response) => void response.destroy();
const never: Answer = () => undefined;
/** Begins an answer that never ends, or breaks off. */
const begin =
  (text: string, { type = 'application/json', breaksOff = true } = {}): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': type }).write(text, () => {
      if (breaksOff) setTimeout(() => response.destroy(), 20);
    });
  };

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('error', () => undefined);
  request.on('end', () => {
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: Buffer.concat(parts).toString(), atMs: performance.now() });
    (answers.shift() ?? json(200, { completion: 'done' }))(response);
  });
});
const open = new Set<{ destroy: () => void }>();
server.on('connection', (socket) => open.add(socket));

let url: string;
beforeEach(async () => {
  received.length = 0;
  answers.length = 0;
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  // @NOTE a server that listens on TCP has such an address.
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  await new Promise((closed) => server.close(closed));
});

const quireWith = (options: Partial<QuireOptions> = {}) => new Quire({ url, token: 'token', ...options });
const keys = () => received.map(({ headers }) => headers['idempotency-key']);

describe('a request is sent again', () => {
  test.each([
    ['429', refuse(429)],
    ['502', refuse(502)],
    ['503', refuse(503)],
    ['504', refuse(504)],
    ['a connection that breaks', hangUp],
    ['an answer that breaks off', begin('{"a":')],
  ])('after %s, if it only reads', async (_name, failure) => {
    answers.push(failure);
    await quireWith().documents.get('id');
    await quireWith().search.chunks({ query: 'heron' });
    expect(received.map(({ path }) => path)).toEqual(['/documents/id', '/documents/id', '/retrieve/chunks']);
  });

  test('after the time that the service names, and not all at once', async () => {
    answers.push(refuse(503, { 'retry-after': '1' }), refuse(429));
    await quireWith().documents.get('id');
    const [first = 0, second = 0, third = 0] = received.map(({ atMs }) => atMs);
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(second - first).toBeLessThan(2_500);
    expect(third - second).toBeGreaterThanOrEqual(500);
  });

  test('with the same key, if it ingests', async () => {
    answers.push(hangUp, refuse(409, { 'retry-after': '0' }));
    const quire = quireWith();
    await quire.ingest.text('A heron.');
    await quire.ingest.text('A heron.');
    const [one, two, three, other] = keys();
    expect(one).toMatch(/^[\da-f]{32}$/);
    expect([two, three]).toEqual([one, one]);
    expect(other).not.toBe(one);
  });

  test('with the whole file, if that can be read again', async () => {
    answers.push(hangUp);
    await quireWith().ingest.file(new File(['A heron.'], 'heron.txt'), { metadata: { topic: 'birds' } });
    const [first, second] = received.map(({ body }) => body);
    expect(first).toContain('A heron.');
    expect(second).toBe(first);
    expect(keys()[1]).toBe(keys()[0]);
  });

  test('with a token of now', async () => {
    answers.push(refuse(503, { 'retry-after': '0' }));
    let number = 0;
    await quireWith({ token: () => `token ${String((number += 1))}` }).documents.get('id');
    const tokens = received.map(({ headers }) => headers.authorization);
    expect(tokens).toEqual(['Bearer token 1', 'Bearer token 2']);
  });
});

describe('a request is sent once', () => {
  test.each([
    ['changes a document', (quire: Quire) => quire.documents.patch('id', { metadata: {} })],
    ['deletes', (quire: Quire) => quire.documents.delete('id')],
    ['replaces a content', (quire: Quire) => quire.documents.putText('id', { content: 'A goose.' })],
    ['retries an ingest', (quire: Quire) => quire.documents.retry('id')],
    ['has a stream', (quire: Quire) => quire.ingest.file(new Blob(['A heron.']).stream())],
  ])('if it %s', async (_name, call) => {
    answers.push(refuse(503, { 'retry-after': '0' }));
    expect(await failureOf(call(quireWith()))).toMatchObject({
      status: 503,
      detail: 'not now',
      requestId: 'r1',
    });
    expect(received).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 409, 413, 422, 500, 507])('after a %d', async (status) => {
    answers.push(refuse(status));
    expect(await failureOf(quireWith().documents.get('id'))).toMatchObject({ status });
    expect(received).toHaveLength(1);
  });

  test('if the service asks for more than half a minute, or the caller for no repetition', async () => {
    answers.push(refuse(503, { 'retry-after': '31' }), refuse(503));
    const error = await failureOf(quireWith().documents.get('id'));
    expect(error.headers.get('retry-after')).toBe('31');
    await failureOf(quireWith().documents.get('id', { retries: 0 }));
    expect(received).toHaveLength(2);
  });
});

test('a service that stays away is an error without a status, that names it', async () => {
  const error = await failureOf(new Quire({ url: 'http://127.0.0.1:1', retries: 1 }).documents.get('id'));
  expect(error).toMatchObject({ status: null, requestId: null });
  expect(error.detail).toContain('http://127.0.0.1:1');
  expect(error.cause).toBeDefined();
});

test('an answer that is not of the service is an error with its status', async () => {
  answers.push((response) => void response.writeHead(502, 'Bad Gateway').end('<h1>oh</h1>'));
  const error = await failureOf(quireWith({ retries: 0 }).documents.get('id'));
  expect(error).toMatchObject({ status: 502, detail: 'Bad Gateway', errors: [] });
});

test('a redirection is not followed with the token', async () => {
  answers.push((response) => void response.writeHead(302, { location: `${url}/elsewhere` }).end());
  expect(await failureOf(quireWith({ retries: 0 }).documents.get('id'))).toMatchObject({ status: null });
  expect(received).toHaveLength(1);
});

describe('a call ends', () => {
  test('when its signal says so, whatever it waits for', async () => {
    const reason = new Error('enough');
    for (const waiting of [
      never,
      begin('{"a":', { breaksOff: false }),
      refuse(503, { 'retry-after': '20' }),
    ]) {
      answers.push(waiting);
      const controller = new AbortController();
      const call = quireWith().documents.get('id', { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 100);
      await expect(call).rejects.toBe(reason);
    }
    const before = received.length;
    await expect(quireWith().usage.stats({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(received).toHaveLength(before);
  });

  test('when its time is over, repetitions included', async () => {
    answers.push(refuse(503, { 'retry-after': '0' }), never);
    const error = await failureOf(quireWith().documents.get('id', { timeout: 1_500 }));
    expect(error).toMatchObject({ status: null, detail: 'No whole answer within 1500 ms' });
    expect(received).toHaveLength(2);
  });

  test('while it waits for a document', async () => {
    const processing = json(200, { status: 'processing', error: null });
    answers.push(...Array.from({ length: 50 }, () => processing));
    const error = await failureOf(quireWith().documents.waitUntilReady('id', { timeout: 300 }));
    expect(error).toMatchObject({ status: null });
    const controller = new AbortController();
    const call = quireWith().documents.waitUntilReady('id', { signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 150);
    await expect(call).rejects.toThrow('enough');
  });
});

describe('a streamed answer', () => {
  const events = 'text/event-stream';
  const token = (text: string) => `data: ${JSON.stringify({ type: 'token', text })}\n\n`;
  const stream = (text: string, breaksOff = true) => begin(text, { type: events, breaksOff });

  test('is asked for again before its first part, and not after it', async () => {
    answers.push(refuse(503, { 'retry-after': '0' }), stream(token('A ')));
    const texts: string[] = [];
    const reading = async () => {
      for await (const part of quireWith().ask('Which?')) if (part.type === 'token') texts.push(part.text);
    };
    const error = await failureOf(reading());
    expect(error).toMatchObject({ status: null, detail: 'The answer broke off before its end' });
    expect(texts).toEqual(['A ']);
    expect(received).toHaveLength(2);
  });

  test('that ends in order without its last event is an error, too', async () => {
    answers.push((response) => void response.writeHead(200, { 'content-type': events }).end(token('A ')));
    expect(await failureOf(allOf(quireWith().ask('Which?')))).toMatchObject({ status: null });
  });

  test('throws the error that the service ends it with', async () => {
    const failure = { type: 'error', status: 503, detail: 'completion provider is unavailable' };
    answers.push(stream(`${token('A ')}event: error\ndata: ${JSON.stringify(failure)}\n\n`));
    const error = await failureOf(allOf(quireWith().ask('Which?')));
    expect(error).toMatchObject({ status: 503, detail: failure.detail });
  });

  test('is read however it is cut, with comments and all ends of lines', async () => {
    const text = 'ä \u2028 "heron": 🐦';
    const bytes = Buffer.from(
      `: heartbeat\r\n\r\n${token(text)}data: {"type": "end", "sources": []}\r\n\r\n`,
    );
    answers.push((response) => {
      response.writeHead(200, { 'content-type': events });
      void (async () => {
        for (const byte of bytes) {
          response.write(Uint8Array.of(byte));
          await new Promise(setImmediate);
        }
        response.end();
      })();
    });
    expect(await allOf(quireWith().ask('Which?'))).toEqual([
      { type: 'token', text },
      { type: 'end', sources: [] },
    ]);
  });

  test('ends its request when its reader stops, or the signal says so', async () => {
    let closed = 0;
    const open: Answer = (response) => {
      response.on('close', () => (closed += 1));
      stream(token('A '), false)(response);
    };
    answers.push(open, open);
    for await (const part of quireWith().ask('Which?')) {
      expect(part).toEqual({ type: 'token', text: 'A ' });
      break;
    }
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = async () => {
      for await (const _ of quireWith().ask('Which?', { signal: controller.signal }))
        controller.abort(reason);
    };
    await expect(reading()).rejects.toBe(reason);
    for (let tries = 0; tries < 100 && closed < 2; tries += 1)
      await new Promise((next) => setTimeout(next, 20));
    expect(closed).toBe(2);
  });
});

test('every request refuses fields that the service does not know, and says how long it waits', async () => {
  const quire = quireWith();
  await quire.documents.get('id');
  await quire.ingest.text('A heron.', { wait: 3 });
  await quire.ingest.text('A heron.', { wait: false, idempotencyKey: 'mine' });
  const preferences = received.map(({ headers }) => headers['prefer']);
  expect(preferences).toEqual([
    'handling=strict',
    'handling=strict, wait=3',
    'handling=strict, respond-async',
  ]);
  expect(keys()).toEqual([undefined, expect.any(String), 'mine']);
});

test('requests are sent by the `fetch` that the client is given', async () => {
  const asked: string[] = [];
  const own: typeof fetch = (input, init) => {
    asked.push(typeof input === 'string' ? input : 'no address');
    return fetch(input, init);
  };
  await quireWith({ fetch: own }).caches.list();
  expect(asked).toEqual([`${url}/caches`]);
});

test('names in paths are written as one step of the path', async () => {
  await quireWith({ url: `${url}/below/` }).caches.get('a/../b?c#d ü');
  expect(received[0]?.path).toBe('/below/cache/a%2F..%2Fb%3Fc%23d%20%C3%BC');
});
