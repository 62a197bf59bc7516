import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Route } from '../../src/api/http/route.js';
import { UnavailableError } from '../../src/shared/errors.js';
import { jsonBody, startApi, type ApiClient } from '../support/api.js';
import { createCheckResponse } from '../support/check-response.js';
import { openRaw } from '../support/raw-http.js';
import { echo, get } from '../support/streaming-routes.js';
import { until } from '../support/until.js';

let api: ApiClient;
afterEach(() => api.close());

describe('a streamed list', () => {
  test('arrives as one JSON array', async () => {
    const list = Array.from({ length: 3000 }, (_, n) => ({ n, text: 'x'.repeat(100) }));
    api = await startApi({
      routes: [get('/list', () => ({ type: 'items', items: iterate(list) })), emptyList()],
    });
    expect((await api.request('/list')).body).toEqual(list);
    expect((await api.request('/empty')).body).toEqual([]);
    expect(await api.request('/list', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  });

  test('that fails before its first item is a plain error', async () => {
    const items = iterate([], new UnavailableError('redis'));
    api = await startApi({ routes: [get('/list', () => ({ type: 'items', items }))] });
    expect(await api.request('/list')).toMatchObject({ status: 503 });
  });

  test('that fails later is cut off, not made to look whole', async () => {
    const large = Array.from({ length: 100 }, () => 'x'.repeat(10_000));
    const items = iterate(large, new Error('broken'));
    api = await startApi({ routes: [get('/list', () => ({ type: 'items', items }))] });
    await expect(api.request('/list')).rejects.toThrow();
  });

  test('is made no faster than it is taken', async () => {
    let made = 0;
    async function* items() {
      for (; made < 3000; made += 1) yield await Promise.resolve('x'.repeat(10_000));
    }
    api = await startApi({ routes: [get('/list', () => ({ type: 'items', items: items() }))] });
    const { socket, until: seen } = await openRaw(api.port);
    socket.write('GET /list HTTP/1.1\r\nHost: a\r\n\r\n');
    await seen(/200 OK/);
    socket.pause();
    // Until the buffers of the connection are full.
    for (let before = -1; before !== made;) {
      before = made;
      await sleep(500);
    }
    expect(made).toBeLessThan(3000);
    socket.destroy();
  });
});

function emptyList(): Route {
  return get('/empty', () => ({ type: 'items', items: iterate([]) }));
}

async function* iterate(items: readonly unknown[], error?: Error): AsyncGenerator {
  for (const item of items) yield await Promise.resolve(item);
  if (error) throw error;
}

describe('server-sent events', () => {
  const stream = (events: AsyncIterable<unknown>) => ({
    ...get('/events', () => ({ type: 'events', events })),
    responses: { 200: 'events' as const },
    events: z.object({ n: z.number() }),
  });

  test('are one data line of JSON each, and not buffered by proxies', async () => {
    api = await startApi({ routes: [stream(iterate([{ n: 1 }, { n: 2 }]))] });
    const { text, headers } = await api.request('/events');
    expect(text).toBe('data: {"n":1}\n\ndata: {"n":2}\n\n');
    expect(headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(headers.get('x-accel-buffering')).toBe('no');
  });

  test('that fail before the first are a plain error', async () => {
    const route = stream(iterate([], new UnavailableError('completion provider')));
    api = await startApi({ routes: [route] });
    expect(await api.request('/events')).toMatchObject({ status: 503 });
  });

  test('that fail later end with an error event that shows no more than a plain error would', async () => {
    api = await startApi({ routes: [stream(iterate([{ n: 1 }], new Error('hunter2')))] });
    const { text } = await api.request('/events');
    expect(text).toBe(
      'data: {"n":1}\n\nevent: error\ndata: {"type":"error","status":500,"detail":"Internal server error"}\n\n',
    );
  });

  test('stop being made when the client goes away', async () => {
    let stopped = false;
    async function* endless() {
      try {
        for (let n = 0; ; n += 1) {
          yield { n };
          await sleep(5);
        }
      } finally {
        stopped = true;
      }
    }
    api = await startApi({ routes: [stream(endless())] });
    const { socket, until: seen } = await openRaw(api.port);
    socket.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
    await seen(/"n":3/);
    socket.destroy();
    await until(() => stopped);
  });
});

describe('a download', () => {
  const download = (filename: string, bytes = iterateBytes(['some ', 'bytes']), sizeBytes = 10): Route => ({
    ...get('/file', () => ({ type: 'download', bytes, sizeBytes, contentType: 'text/html', filename })),
    responses: { 200: 'download' },
  });

  test('is the bytes, as an attachment that no browser runs', async () => {
    api = await startApi({ routes: [download('a.html')] });
    const { text, headers } = await api.request('/file');
    expect(text).toBe('some bytes');
    expect(headers.get('content-length')).toBe('10');
    expect(headers.get('content-type')).toBe('text/html');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="a.html"; filename*=UTF-8''a.html`);
  });

  test.each([
    ['../../etc/passwd', `filename="passwd"; filename*=UTF-8''passwd`],
    ['a"b\\c.txt', `filename="c.txt"; filename*=UTF-8''c.txt`],
    [
      'say "hi"; x=1\r\nSet-Cookie: a=b',
      `filename="say _hi_; x=1Set-Cookie: a=b"; filename*=UTF-8''say%20%22hi%22%3B%20x%3D1Set-Cookie%3A%20a%3Db`,
    ],
    ['Größe 企鹅.txt', `filename="Gr__e __.txt"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%E4%BC%81%E9%B9%85.txt`],
    ["it's (1)*.txt", `filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
    ['\ud800.txt', `filename="_.txt"; filename*=UTF-8''%EF%BF%BD.txt`],
    ['', `filename="download"; filename*=UTF-8''download`],
  ])('names its file safely: %j', async (filename, expected) => {
    api = await startApi({ routes: [download(filename)] });
    expect((await api.request('/file')).headers.get('content-disposition')).toBe(`attachment; ${expected}`);
  });

  test('of bytes that cannot be read is an error; one that breaks off is cut off', async () => {
    api = await startApi({ routes: [download('a', iterateBytes([], new UnavailableError('storage')))] });
    expect(await api.request('/file')).toMatchObject({ status: 503 });
    await api.close();
    api = await startApi({ routes: [download('a', iterateBytes(['some '], new Error('disk')))] });
    await expect(api.request('/file')).rejects.toThrow();
    await api.close();
    api = await startApi({ routes: [download('a', iterateBytes(['some ']))] });
    await expect(api.request('/file')).rejects.toThrow();
  });
});

async function* iterateBytes(parts: readonly string[], error?: Error): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part));
  if (error) throw error;
}

describe('the check that every answer in tests goes through', () => {
  const check = createCheckResponse([echo()]);
  const answer = (status: number, body: unknown, type = 'application/json') => ({
    method: 'POST',
    path: '/echo',
    status,
    text: JSON.stringify(body),
    headers: new Headers({ 'X-Request-Id': 'a', 'Content-Type': type }),
  });

  test('fails on an undeclared status, field or type', async () => {
    api = await startApi({ routes: [echo()] });
    expect(await api.request('/echo', jsonBody({ name: 'x' }))).toMatchObject({ status: 200 });
    expect(() => {
      check(answer(200, { name: 'x' }));
    }).not.toThrow();
    expect(() => {
      check(answer(201, { name: 'x' }));
    }).toThrow(/does not declare/);
    expect(() => {
      check(answer(200, { name: 'x', more: 1 }));
    }).toThrow(/does not declare/);
    expect(() => {
      check(answer(200, { name: 1 }));
    }).toThrow(/does not fit/);
    expect(() => {
      check(answer(200, { name: 'x' }, 'text/html'));
    }).toThrow(/as text\/html/);
  });
});
