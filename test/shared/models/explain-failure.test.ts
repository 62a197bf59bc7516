import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createHttpReranker } from '../../../src/shared/adapters/http-reranker/http-reranker.js';
import { createOpenAICompleter } from '../../../src/shared/adapters/openai/completer.js';
import { createOpenAIEmbedder } from '../../../src/shared/adapters/openai/embedder.js';
import { explainFailure } from '../../../src/shared/models/in-use/explain-failure.js';
import { shownAddress, probesOf, type Role } from '../../../src/shared/models/in-use/models-in-use.js';
import { freePort } from '../../support/redis.js';
import { rejection } from '../../support/rejection.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: RequestListener): Promise<string> {
  const started = createServer(answer);
  servers.push(started);
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  // @NOTE a server that listens on a port has such an address
  return `http://127.0.0.1:${String((started.address() as AddressInfo).port)}`;
}

const refuse =
  (status: number): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'the key sk-secret is not good', code: null } }));
  };

/** The problem reported of a model at this address, whose adapter is the real one. */
async function problemOf(role: Role, baseUrl: string, patienceMilliseconds = 5_000): Promise<string> {
  const connection = { apiKey: 'sk-secret', baseUrl, model: 'm', timeoutMilliseconds: 5_000 };
  const adapters = {
    embedder: createOpenAIEmbedder(connection),
    completer: createOpenAICompleter({ ...connection, contextWindow: 4_096 }),
    reranker: createHttpReranker({
      apiKey: 'sk-secret',
      baseUrl,
      model: 'm',
      protocol: 'documents',
      scores: 'probability',
      maxDocuments: 10,
      maxTextTokens: 0,
    }),
  };
  const kind = role === 'reranker' ? 'http' : 'openai';
  const probe = probesOf({ embedder: 'openai', completer: 'openai', reranker: 'http' }, adapters)[role];
  const error = await rejection(probe?.(AbortSignal.timeout(patienceMilliseconds)) ?? Promise.resolve());
  const used = { role, kind, model: 'm', address: shownAddress(baseUrl) } as const;
  return explainFailure(error, used);
}

test.each([
  ['embedder', '', 404, /embedding\.base_url probably lacks \/v1 \(http:.*\/v1\)$/],
  ['completer', '', 404, /completion\.base_url probably lacks \/v1/],
  ['completer', '', 405, /completion\.base_url probably lacks \/v1/],
  ['embedder', '/v1', 404, /embedding\.model \(m\) or embedding\.base_url is unknown there/],
  ['completer', '/v1beta', 404, /completion\.model \(m\) or completion\.base_url is unknown there/],
  ['reranker', '', 404, /reranking\.model \(m\) or reranking\.base_url is unknown there/],
  ['embedder', '/v1', 401, /the key is missing or wrong \(OPENAI_API_KEY\)/],
  ['reranker', '/v1', 403, /the key is missing or wrong \(RERANKER_API_KEY\)/],
  ['embedder', '/v1', 400, /embedding\.model and embedding\.dimensions/],
  ['completer', '/v1', 422, /completion\.model/],
  ['completer', '/v1', 503, /trouble of its own/],
] as const)(
  'the %s at %p that answers %i: the setting to change is named',
  async (role, path, status, said) => {
    const problem = await problemOf(role, (await serve(refuse(status))) + path);
    expect(problem).toMatch(new RegExp(`^it answered ${String(status)}: `));
    expect(problem).toMatch(said);
    expect(problem).not.toContain('sk-secret');
  },
);

test.each(['embedder', 'completer', 'reranker'] as const)(
  'the %s where nothing listens, where a page answers, and where nobody answers in time',
  async (role) => {
    expect(await problemOf(role, `http://127.0.0.1:${String(await freePort())}/v1`)).toMatch(
      /^nothing answers there \(ECONNREFUSED\): start the server, or change \w+\.base_url$/,
    );
    const page = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>A console</title>');
    });
    expect(await problemOf(role, `${page}/v1`)).toMatch(/base_url/);
    const silent = await serve(() => undefined);
    expect(await problemOf(role, `${silent}/v1`, 300)).toMatch(/^no answer in time/);
  },
  30_000,
);

test('an address is shown without login, query and fragment', () => {
  expect(shownAddress('https://me:secret@models.example:8443/v1/?key=secret#secret')).toBe(
    'https://models.example:8443/v1',
  );
  expect(shownAddress('http://models.example/')).toBe('http://models.example');
});

test.each([
  ['https://user:secret@models.example/v1/?key=abc#x', 'https://models.example/v1'],
  ['https://gateway.example/sk-0123456789abcdef012345/openai/v1', 'https://gateway.example/…/openai/v1'],
])('of the address %s nothing secret is shown', (url, shown) => {
  expect(shownAddress(url)).toBe(shown);
});
