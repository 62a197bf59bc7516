import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createOpenAICompleter } from '../../../../src/shared/adapters/openai/completer.js';
import { ContentFilterError, UnavailableError } from '../../../../src/shared/errors.js';
import { collect } from '../../../support/collect.js';
import { rejection } from '../../../support/rejection.js';

const prompt = { question: 'Which?', passages: [{ documentId: 'd', chunkNumber: 0, text: 'A passage.' }] };
let server: Server;
let answer: unknown;
let type = 'application/json';

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    // With line ends between its parts, as gateways print it.
    response.writeHead(200, { 'Content-Type': type }).end(JSON.stringify(answer, null, 2));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

const complete = () => {
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${String(port)}/v1`;
  const connection = { apiKey: null, baseUrl, timeoutMilliseconds: 5_000 };
  return collect(createOpenAICompleter({ ...connection, model: 'm', contextWindow: 8192 }).complete(prompt));
};
const choice = (content: string | null, finish: string, more: object = {}) => ({
  choices: [{ index: 0, message: { role: 'assistant', content, ...more }, finish_reason: finish }],
  usage: { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 },
});

test.each(['application/json', 'Application/JSON; charset=utf-8'])(
  'a server that answers as a whole, by %s, is read',
  async (told) => {
    type = told;
    answer = choice('Geese\nand 🦊.', 'stop');
    expect(await complete()).toMatchObject({
      text: 'Geese\nand 🦊.',
      end: { finishReason: 'stop', promptTokens: 40, completionTokens: 7 },
    });
  },
);

test('a whole answer that was cut says so, and one that was filtered is no answer', async () => {
  answer = choice('Geese and', 'length');
  expect((await complete()).end.finishReason).toBe('length');
  answer = choice(null, 'content_filter');
  expect(await rejection(complete())).toBeInstanceOf(ContentFilterError);
});

test.each([
  ['an error', { error: { message: 'model is loading', type: 'server_error' } }],
  ['calls of tools alone', choice(null, 'tool_calls', { tool_calls: [{ id: 'a', type: 'function' }] })],
  ['nothing that is known', { result: 'Geese' }],
  ['no object', ['Geese']],
  ['far too much', { ...choice('x', 'stop'), more: Array.from({ length: 40 }, () => 'x'.repeat(500_000)) }],
])('a whole answer of %s makes the provider unavailable', async (_, told) => {
  answer = told;
  expect(await rejection(complete())).toBeInstanceOf(UnavailableError);
});
