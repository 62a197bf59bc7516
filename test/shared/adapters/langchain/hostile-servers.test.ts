import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLangChainCompleter } from '../../../../src/shared/adapters/langchain/completer.js';
import { UnavailableError } from '../../../../src/shared/errors.js';
import { azureOptions, embedderOfOpenAI, langChainClass, printed } from '../../../support/langchain.js';
import { rejection } from '../../../support/rejection.js';

const KEY = 'a-key-that-nobody-else-may-see';
const TEXT = 'a text that stays with its provider';

let listener: RequestListener = () => undefined;
let server: Server;
let url: string;
beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume().once('end', () => listener(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const prompt = { question: TEXT, passages: [{ documentId: 'one', chunkNumber: 0, text: TEXT }] };

async function complete(
  options: Readonly<Record<string, unknown>>,
  className = 'ChatOpenAI',
): Promise<unknown> {
  const completer = await createLangChainCompleter({
    provider: langChainClass(`@langchain/openai:${className}`),
    model: 'fake',
    options,
    contextWindow: 8_192,
    timeoutMilliseconds: 60_000,
  });
  return rejection(
    (async () => {
      for await (const event of completer.complete(prompt)) expect(event).toBeDefined();
    })(),
  );
}

describe('a provider of @langchain/openai that', () => {
  test('sends to another host: nothing goes there, neither the key nor the text', async () => {
    const others: string[] = [];
    const other = createServer((request, response) => {
      others.push(`${String(request.url)} ${JSON.stringify(request.headers)}`);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    try {
      const port = String((other.address() as AddressInfo).port);
      listener = (request, response) => {
        response.writeHead(307, { location: `http://localhost:${port}${String(request.url)}` }).end();
      };
      const embedder = await embedderOfOpenAI(url, KEY);
      const errors = [
        await rejection(embedder.embedDocuments([TEXT])),
        await complete({ apiKey: KEY, configuration: { baseURL: url } }),
        await complete(azureOptions(url, KEY), 'AzureChatOpenAI'),
      ];
      for (const error of errors) {
        expect(error).toBeInstanceOf(UnavailableError);
        expect(printed(error)).not.toMatch(new RegExp(`${KEY}|${TEXT}`));
      }
      expect(others).toEqual([]);
    } finally {
      other.close();
      other.closeAllConnections();
    }
  });

  test('sends a line without an end is read no further', async () => {
    let sent = 0;
    listener = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const piece = Buffer.alloc(64 * 1_024, 'x');
      const write = () => {
        while (!response.destroyed && sent < 64 * 1_024 ** 2) {
          sent += piece.length;
          if (!response.write(piece)) return;
        }
        response.end();
      };
      response.on('drain', write);
      response.write('data: ');
      write();
    };
    const error = await complete({ apiKey: KEY, configuration: { baseURL: url } });
    expect(error).toBeInstanceOf(UnavailableError);
    // A megabyte, and the bytes that were on their way.
    expect(sent).toBeLessThan(16 * 1_024 ** 2);
  });
});
