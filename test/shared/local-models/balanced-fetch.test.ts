import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import {
  createBalancedFetch,
  type ModelsAddress,
} from '../../../src/shared/local-models/processes/models-address.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Process extends ModelsAddress {
  readonly asked: string[];
}

async function startProcess(answer: RequestListener): Promise<Process> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  // @NOTE a server that listens on a port has this kind of address
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${String(port)}`, token: null, asked };
}

const answering = (status: number, text: string): Promise<Process> =>
  startProcess((_request, response) => {
    response.writeHead(status).end(text);
  });

async function away(): Promise<ModelsAddress> {
  const { url } = await answering(200, '');
  const server = servers.pop();
  server?.close();
  return { url, token: null };
}

test('requests are spread, each with the path of the first address', async () => {
  const [one, other] = [await answering(200, 'one'), await answering(200, 'other')];
  const send = createBalancedFetch([one, other]);
  for (let n = 0; n < 10; n += 1) await (await send(`${one.url}/v1/embeddings?n=${String(n)}`)).text();
  expect(one.asked).toHaveLength(5);
  expect(other.asked).toHaveLength(5);
  expect([...one.asked, ...other.asked].sort()).toContain('/v1/embeddings?n=9');
});

test('a process with more to do is asked after one with less', async () => {
  const slow = await startProcess(() => undefined);
  const quick = await answering(200, 'quick');
  const send = createBalancedFetch([slow, quick]);
  const controller = new AbortController();
  const waiting = send(`${slow.url}/v1/embeddings`, { signal: controller.signal }).catch(() => null);
  for (let n = 0; n < 5; n += 1) expect((await send(`${slow.url}/v1/embeddings`)).status).toBe(200);
  expect(slow.asked.length + quick.asked.length).toBe(6);
  expect(slow.asked).toHaveLength(1);
  controller.abort();
  expect(await waiting).toBeNull();
});

test.each([
  ['that is away', away],
  ['that is overloaded', () => answering(503, 'busy')],
  ['that has no such file', () => answering(404, 'none')],
  ['that has another file', () => answering(409, 'changed')],
])('the next one is asked in place of a process %s', async (_what, start) => {
  const other = await answering(200, 'from the other');
  const first = await start();
  const both = createBalancedFetch([first, other]);
  for (let n = 0; n < 4; n += 1)
    expect(await (await both(`${first.url}/v1/rerank`)).text()).toBe('from the other');
});

test('a refusal of what was sent is not asked elsewhere', async () => {
  const [one, other] = [await answering(400, 'bad'), await answering(200, 'other')];
  const send = createBalancedFetch([one, other]);
  const answers = [await send(`${one.url}/v1/x`), await send(`${one.url}/v1/x`)];
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test('where none can, a failure that may pass is told rather than a file that is missing', async () => {
  const missing = await answering(404, 'none');
  const busy = await answering(503, 'busy');
  for (const order of [
    [missing, busy],
    [busy, missing],
  ] as const)
    expect((await createBalancedFetch(order)(`${order[0].url}/v1/x`)).status).toBe(503);
  const gone = await away();
  await expect(createBalancedFetch([missing, gone])(`${missing.url}/v1/x`)).rejects.toThrow();
});

test('the caller who leaves is told so, and nobody else is asked', async () => {
  const slow = await startProcess(() => undefined);
  const other = await startProcess(() => undefined);
  const send = createBalancedFetch([slow, other]);
  const signal = AbortSignal.timeout(100);
  await expect(send(`${slow.url}/v1/x`, { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(slow.asked.length + other.asked.length).toBe(1);
});

test('a process that was silent for long is asked last for a while', async () => {
  const silent = await startProcess(() => undefined);
  const other = await answering(200, 'other');
  const send = createBalancedFetch([silent, other]);
  await expect(send(`${silent.url}/v1/x`, { signal: AbortSignal.timeout(5_200) })).rejects.toThrow();
  for (let n = 0; n < 4; n += 1) expect((await send(`${silent.url}/v1/x`)).status).toBe(200);
  expect(silent.asked).toHaveLength(1);
});
