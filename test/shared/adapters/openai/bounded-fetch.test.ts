import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createOpenAICompleter } from '../../../../src/shared/adapters/openai/completer.js';
import { createOpenAIEmbedder } from '../../../../src/shared/adapters/openai/embedder.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { collect } from '../../../support/collect.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

const MEBIBYTE = 1024 * 1024;
const FAR_TOO_MANY_BYTES = 64 * MEBIBYTE;
const started: Server[] = [];

afterEach(() => {
  for (const server of started.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(handle: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    handle(request, response);
  });
  started.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // @NOTE a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${String(port)}/v1`;
}

const connection = (baseUrl: string) => ({ apiKey: null, baseUrl, timeoutMilliseconds: 30_000, model: 'm' });

/** Sends the same bytes again and again, for as long as the client takes them. */
function sendEndlessly(response: ServerResponse, onSent: (bytes: number) => void): void {
  const piece = Buffer.alloc(64 * 1024, '7');
  let bytes = 0;
  const write = (): void => {
    while (!response.destroyed && bytes < FAR_TOO_MANY_BYTES) {
      bytes += piece.length;
      onSent(bytes);
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on('drain', write);
  write();
}

test('vectors that never end are a fault of the provider', async () => {
  let sent = 0;
  let open = 0;
  const baseUrl = await serve((_request, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.write('{"data":[{"index":0,"embedding":[0.');
    sendEndlessly(response, (bytes) => (sent = Math.max(sent, bytes)));
  });
  const embedder = createOpenAIEmbedder({ ...connection(baseUrl), maxReplyBytes: 2 * MEBIBYTE });
  expect(await rejection(embedder.embedQuery('text'))).toBeInstanceOf(UnavailableError);
  await until(() => open === 0);
  expect(sent).toBeLessThan(FAR_TOO_MANY_BYTES);
});

test.each(['text/event-stream', 'text/plain'])(
  'an event of %s without end is a fault of the provider',
  async (type) => {
    let sent = 0;
    let open = 0;
    const baseUrl = await serve((_request, response) => {
      open += 1;
      response.on('close', () => (open -= 1));
      response.writeHead(200, { 'Content-Type': type });
      response.write('data: {"choices":[{"delta":{"content":"');
      sendEndlessly(response, (bytes) => (sent = Math.max(sent, bytes)));
    });
    const completer = createOpenAICompleter({ ...connection(baseUrl), contextWindow: 1_024 });
    const prompt = {
      question: 'Which?',
      passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage.' }],
    };
    expect(await rejection(collect(completer.complete(prompt)))).toBeInstanceOf(UnavailableError);
    await until(() => open === 0);
    expect(sent).toBeLessThan(16 * MEBIBYTE);
  },
);

test('a redirect to another server is not followed', async () => {
  let reached = 0;
  const inside = await serve((_request, response) => {
    reached += 1;
    response.end('{}');
  });
  const baseUrl = await serve((_request, response) => {
    response.writeHead(307, { Location: `${inside}/embeddings` }).end();
  });
  const embedder = createOpenAIEmbedder(connection(baseUrl));
  expect(await rejection(embedder.embedQuery('text'))).toBeInstanceOf(UnavailableError);
  expect(reached).toBe(0);
});
