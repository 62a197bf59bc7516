import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { openRaw } from '../support/raw-http.js';
import { freePort, startTestRedis, type TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

let directory: string;
let server: TestRedis;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quire-api-'));
  server = await startTestRedis();
});
afterEach(async () => {
  await Promise.all([...running].map(end));
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

async function end(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

interface Api {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: number;
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

/** The API as a process of its own, in dev mode. */
async function startProcess(env: Record<string, string> = {}): Promise<Api> {
  const port = await freePort();
  const child = spawn(process.execPath, [resolve('dist/api/main.js')], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'] ?? '',
      PORT: String(port),
      REDIS_URL: server.url,
      QUIRE_DEV_MODE: 'true',
      QUIRE_DATA_DIR: directory,
      QUIRE_WORKERS_DRAIN_SECONDS: '3',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (output += part.toString()));
  const exited = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
  return { child, port, url: `http://127.0.0.1:${String(port)}`, output: () => output, exited };
}

async function ask(url: string): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** A process of its own takes a while to start on a busy machine. */
async function comes(url: string, status: number, pattern = /./) {
  let last: unknown;
  for (const until = Date.now() + 60_000; Date.now() < until;) {
    try {
      const answer = await ask(url);
      if (answer.status === status && pattern.test(answer.text)) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await new Promise((wake) => setTimeout(wake, 50));
  }
  throw new Error(`${url} never answered ${String(status)}: ${JSON.stringify(last)}`);
}

test('it serves, finishes what it has begun when asked to stop, and exits with 0', async () => {
  const api = await startProcess({ QUIRE_API_TRUST_PROXY: '1' });
  await comes(`${api.url}/usage/stats`, 200);
  expect(api.output()).toMatch(/"from":"X-Forwarded-Host [^"]+","publicUrl":"","trustProxy":"1"/);
  const { socket, until: seen, closed } = await openRaw(api.port);
  socket.write(
    'POST /local/generate_uri HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name":',
  );
  await new Promise((wake) => setTimeout(wake, 100));
  api.child.kill('SIGTERM');
  // It takes no connection any more.
  await until(() =>
    fetch(`${api.url}/health`).then(
      () => false,
      () => true,
    ),
  );
  socket.write('"bob"}');
  expect(await seen(/200 OK[^]*databridge:\/\/bob:/)).toBeTruthy();
  await closed();
  expect(await api.exited).toBe(0);
});

test('it takes no connection before it can serve', async () => {
  const api = await startProcess();
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    const status = await fetch(`${api.url}/usage/stats`).then(
      (response) => response.status,
      () => null,
    );
    if (status === null) {
      await new Promise((wake) => setTimeout(wake, 20));
      continue;
    }
    expect(status).toBe(200);
    expect(await ask(`${api.url}/health/serving`)).toMatchObject({
      status: 200,
      text: '{"status":"serving"}',
    });
    return;
  }
  throw new Error('it never took a connection');
});

test('asked to stop, it goes on for the delay that is set, says that it leaves, and lets go of connections', async () => {
  const api = await startProcess({
    QUIRE_API_SHUTDOWN_DELAY_SECONDS: '3',
    QUIRE_WORKERS_DRAIN_SECONDS: '10',
  });
  await comes(`${api.url}/health/serving`, 200);
  const kept = await openRaw(api.port);
  const get = 'GET /usage/stats HTTP/1.1\r\nHost: localhost\r\n\r\n';
  kept.socket.write(get);
  expect(await kept.until(/200 OK[^]*\}$/)).toMatch(/^Connection: keep-alive\r$/m);
  const begun = await openRaw(api.port);
  begun.socket.write(
    'POST /local/generate_uri HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name":',
  );
  await new Promise((wake) => setTimeout(wake, 100));

  const asked = Date.now();
  api.child.kill('SIGTERM');
  await comes(`${api.url}/health/serving`, 503, /"stopping"/);
  expect((await ask(`${api.url}/health/ready`)).text).toMatch(/"not_ready".*"api":"unavailable"/);
  expect((await ask(`${api.url}/usage/stats`)).status).toBe(200);
  // On a kept connection, and for what had begun before: each with its last answer.
  kept.socket.write(get);
  expect(await kept.closed()).toMatch(/200 OK[^]*200 OK[^]*Connection: close\r\n/);
  begun.socket.write('"bob"}');
  expect(await begun.closed()).toMatch(/200 OK[^]*Connection: close\r\n[^]*databridge:\/\/bob:/);
  expect(await api.exited).toBe(0);
  expect(Date.now() - asked).toBeGreaterThan(2_900);
});

test('it comes up without Redis, says so, and serves as soon as Redis is there', async () => {
  await server.crash();
  const api = await startProcess();
  await comes(`${api.url}/health`, 200, /"ok"/);
  expect(JSON.parse((await ask(`${api.url}/health/ready`)).text)).toMatchObject({ status: 'not_ready' });
  const answer = await ask(`${api.url}/documents`);
  expect([answer.status, answer.text]).toEqual([503, '{"detail":"redis is unavailable"}']);
  expect(answer.headers.get('retry-after')).toBe('2');
  await server.start();
  await comes(`${api.url}/usage/stats`, 200);
  await comes(`${api.url}/health/ready`, 503, /"redis":"ready","index":"ready","storage":"ready"/);
});

test('a stop while it waits for Redis is a stop', async () => {
  const api = await startProcess({ REDIS_URL: `redis://127.0.0.1:${String(await freePort())}` });
  await comes(`${api.url}/health`, 200);
  api.child.kill('SIGINT');
  expect(await api.exited).toBe(0);
});

test('a port in use and wrong settings are told in a line, with an exit code of their own', async () => {
  const first = await startProcess();
  await comes(`${first.url}/health`, 200);
  const second = await startProcess({ PORT: String(first.port) });
  expect(await second.exited).toBe(78);
  expect(second.output()).toMatch(
    /^cannot listen on 127.0.0.1 port \d+: another program listens there already/m,
  );
  expect(second.output()).not.toMatch(/ at .*\.js/);
  const third = await startProcess({ QUIRE_DEV_MODE: 'perhaps' });
  expect(await third.exited).toBe(78);
  expect(third.output()).toContain('QUIRE_DEV_MODE');
});
