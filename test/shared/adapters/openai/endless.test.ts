import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createOpenAICompleter } from '../../../../src/shared/adapters/openai/completer.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { collect } from '../../../support/collect.js';
import { rejection } from '../../../support/rejection.js';
import { until } from '../../../support/until.js';

/** A stream must end long before it, or it has no end for us. */
const FAR_TOO_MANY = 200_000;
const WINDOW = 1_024;
const prompt = { question: 'Which?', passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage.' }] };

let server: Server;
let content = '';
let sent = 0;
let isOpen = false;

beforeAll(async () => {
  server = createServer((request, response) => {
    isOpen = true;
    response.on('close', () => (isOpen = false));
    request.resume();
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const write = (): void => {
      const event = `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
      while (!response.destroyed && sent < FAR_TOO_MANY) {
        sent += 1;
        if (!response.write(event)) return;
      }
      response.end();
    };
    response.on('drain', write);
    write();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function complete(text: string) {
  content = text;
  sent = 0;
  // @NOTE a server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${String(port)}/v1`;
  const completer = createOpenAICompleter({
    apiKey: null,
    baseUrl,
    timeoutMilliseconds: 30_000,
    model: 'endless',
    contextWindow: WINDOW,
  });
  return collect(completer.complete(prompt, { maxTokens: 10 }));
}

test('a completion without end is cut, whatever length the server was asked for', async () => {
  const { text, end } = await complete('again and again ');
  expect(end.finishReason).toBe('length');
  expect(text.length).toBeGreaterThan(1_000);
  expect(text.length).toBeLessThan(8_192);
  await until(() => !isOpen);
  expect(sent).toBeLessThan(FAR_TOO_MANY);
});

test('and events without text for ever are a fault of the provider', async () => {
  expect(await rejection(complete(''))).toBeInstanceOf(UnavailableError);
  await until(() => !isOpen);
  expect(sent).toBeLessThan(FAR_TOO_MANY);
});
