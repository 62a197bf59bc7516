import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import { freePort } from '../support/redis.js';
import { runQuire } from '../support/run-quire.js';
import { inheritedEnvironment } from '../support/service.js';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** A service that answers each message by `answer`. */
async function listen(answer: (message: Record<string, unknown>) => { status: number; body: unknown }) {
  const left: unknown[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const message = JSON.parse(await text(request)) as Record<string, unknown>;
      response.once('close', () => {
        if (!response.writableFinished) left.push(message['id']);
      });
      if (message['method'] === 'slow') return;
      const { status, body } = answer(message);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, left };
}

/** Runs `npx quire mcp` with these lines as its input, to their end. */
async function speak(url: string, lines: readonly string[]) {
  const child = spawn(process.execPath, ['dist/cli/main.js', 'mcp', '--url', url], {
    env: inheritedEnvironment(),
  });
  child.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const answers = stdout.split('\n').filter((line) => line !== '');
  return { answers: answers.map((line) => JSON.parse(line) as unknown), stderr };
}

const message = (id: unknown, method: string, params?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

test('says that no service is there, and how to start it, and nothing on stdout', async () => {
  const url = `http://127.0.0.1:${String(await freePort())}`;
  const { code, stdout, stderr } = await runQuire(['mcp', '--url', url], {});
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: `No Quire answers at ${url}. Start it (npm start), or name its address with --url.\n`,
  });
});

test('says that the service wants a token, or does not take this one, or is none', async () => {
  const guarded = await listen(() => ({ status: 401, body: {} }));
  expect((await runQuire(['mcp', '--url', guarded.url], {})).stderr).toContain(
    'asks for a token: give it with --token',
  );
  expect((await runQuire(['mcp', '--url', guarded.url], { QUIRE_TOKEN: 'x' })).stderr).toContain(
    'does not take this token',
  );
  const other = await listen(() => ({ status: 404, body: {} }));
  expect((await runQuire(['mcp', '--url', other.url], {})).stderr).toContain(
    'There is no Quire that speaks MCP',
  );
  expect((await runQuire(['mcp', '--url', 'nowhere'], {})).stderr).toContain(
    '--url nowhere: allowed: an address',
  );
});

test('carries messages as they are written, and refusals of HTTP as errors of the protocol', async () => {
  const { url } = await listen(({ method, id, params }) =>
    method === 'refused'
      ? { status: 429, body: { detail: 'Too many requests' } }
      : { status: 200, body: { jsonrpc: '2.0', id, result: { params } } },
  );
  const { answers, stderr } = await speak(url, [
    '',
    '{',
    message('a', 'echo', { a: 1 }),
    message(7, 'refused'),
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  ]);
  expect(stderr).toBe('');
  expect(answers).toHaveLength(3);
  expect(answers).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'A line is one JSON-RPC message' } },
      { jsonrpc: '2.0', id: 'a', result: { params: { a: 1 } } },
      { jsonrpc: '2.0', id: 7, error: { code: -32_000, message: 'Quire answers 429: Too many requests' } },
    ]),
  );
});

test('leaves a request that its host cancels, so that the service ends it', async () => {
  const { url, left } = await listen(({ id }) => ({ status: 200, body: { jsonrpc: '2.0', id, result: {} } }));
  const cancel = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: 5 },
  });
  const child = spawn(process.execPath, ['dist/cli/main.js', 'mcp', '--url', url], {
    env: inheritedEnvironment(),
  });
  child.stdin.write(`${message(4, 'echo')}\n${message(5, 'slow')}\n`);
  await once(child.stdout, 'data');
  child.stdin.end(`${cancel}\n`);
  await once(child, 'close');
  expect(left).toEqual([5]);
});
