import { afterEach, describe, expect, test } from '@jest/globals';
import { makeToken, startApi, type ApiClient } from '../support/api.js';
import { openRaw } from '../support/raw-http.js';
import { echo, get } from '../support/streaming-routes.js';
import { until } from '../support/until.js';

let api: ApiClient;
afterEach(() => api.close());

describe('a body that is held back (Expect: 100-continue)', () => {
  const head = (length: number, more = '') =>
    `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${String(length)}\r\n` +
    `Expect: 100-continue\r\n${more}\r\n`;

  test('is asked for when nothing is left to refuse', async () => {
    api = await startApi({ routes: [echo()] });
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(head(12));
    await seen(/^HTTP\/1.1 100 Continue\r\n\r\n$/);
    socket.write('{"name":"x"}');
    await seen(/HTTP\/1.1 200 OK[^]*\{"name":"x"\}$/);
    socket.destroy();
  });

  test('is not asked for from strangers, nor when it is too large or of the wrong type', async () => {
    api = await startApi({ routes: [echo('write')], maxJsonBytes: 2000 });
    const token = `Authorization: Bearer ${makeToken()}\r\n`;
    for (const [text, status] of [
      [head(12), 401],
      [head(2001, token), 413],
      [head(12, token).replace('application/json', 'text/plain'), 415],
    ] as const) {
      const { socket, closed } = await openRaw(api.port);
      socket.write(text);
      const received = await closed();
      expect(received).toMatch(
        new RegExp(`^HTTP/1.1 ${String(status)} [^]*Content-Type: application/json[^]*\\{"detail":"`),
      );
      expect(received).not.toContain('100 Continue');
      socket.destroy();
    }
  });

  test('and expected otherwise is a 417', async () => {
    api = await startApi({ routes: [echo()] });
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(head(12).replace('100-continue', 'miracles'));
    await seen(/^HTTP\/1.1 417 [^]*X-Request-Id: [^]*\{"detail":"Expectation Failed"\}/);
    socket.destroy();
  });
});

describe('a client that misbehaves', () => {
  test('gets its 413 while it is still sending, and is then cut off', async () => {
    api = await startApi({ routes: [echo()], maxJsonBytes: 2000 });
    const { socket, until: seen, closed } = await openRaw(api.port);
    socket.write(
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    let sent = 0;
    const sending = setInterval(() => {
      socket.write(`400\r\n${'x'.repeat(1024)}\r\n`);
      sent += 1;
    }, 20);
    await seen(/^HTTP\/1.1 413 [^]*ingest\/file/);
    // Two are enough.
    expect(sent).toBeLessThan(50);
    await closed();
    clearInterval(sending);
  });

  test('gets a 401 before its endless body is read', async () => {
    api = await startApi({ routes: [echo('write')] });
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{',
    );
    await seen(/^HTTP\/1.1 401 /);
    socket.destroy();
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['no Host', 'GET /list HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET /list HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['headers without end', `GET /list HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}`, 431],
    ['two lengths', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['a path with a line break', 'GET /a\u0001b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ])('by %s gets a JSON error', async (_, text, status) => {
    api = await startApi({ routes: [echo()] });
    const { socket, until: seen } = await openRaw(api.port);
    socket.write(text, 'latin1');
    await seen(new RegExp(`^HTTP/1.1 ${String(status)} [^]*X-Request-Id: [^]*\\{"detail":"[^"]+"\\}$`));
    socket.destroy();
  });

  test.each([
    ['its headers', 'GET /list HTTP/1.1\r\nHost: a\r\n'],
    [
      'its body',
      'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('that takes too long for %s gets a 408', async (_, text) => {
    api = await startApi({ routes: [echo()], requestTimeoutSeconds: 1 });
    const { socket, closed } = await openRaw(api.port);
    socket.write(text);
    expect(await closed()).toMatch(/^HTTP\/1.1 408 [^]*\{"detail":"Request Timeout"\}$/);
    socket.destroy();
  });

  test('that says nothing at all is let go', async () => {
    api = await startApi({ routes: [echo()], requestTimeoutSeconds: 1 });
    const { closed } = await openRaw(api.port);
    await closed();
  });

  test('that goes away ends the work for it', async () => {
    let seen: AbortSignal | null = null;
    const route = get('/slow', async (signal) => {
      seen = signal;
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve);
      });
      throw new Error('nobody is there');
    });
    const lines: Record<string, unknown>[] = [];
    api = await startApi({ routes: [route], onLog: (line) => lines.push(line) });
    const { socket } = await openRaw(api.port);
    socket.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(() => seen !== null);
    socket.destroy();
    await until(() => seen?.aborted === true);
    await until(() => lines.some(({ msg }) => msg === 'the client went away'));
    expect(lines.filter(({ level }) => level === 50)).toEqual([]);
  });
});
