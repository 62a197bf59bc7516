import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client, WireDocument } from '../support/client.js';
import { postRaw } from '../support/post-raw.js';
import { COMPLETING } from '../support/shared/environments.js';
import { useFakeOpenAI } from '../support/shared/use-fake-openai.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const provider = useFakeOpenAI();
const service = useService({ ...COMPLETING, provider });

const post = (client: Client, path: string, body: unknown) =>
  postRaw({ url: service.url, client, path, body });

interface UsageRecord {
  readonly operation_type: string;
  readonly status: string;
  readonly metadata: { readonly error?: string };
}

/** The usage that a caller is told of an operation: status, and the error's code. */
async function outcomes(client: Client, operation: string): Promise<string[]> {
  const { body } = await client.get<UsageRecord[]>('/usage/recent');
  return body
    .filter(({ operation_type: type }) => type === operation)
    .map(({ status, metadata: { error } }) => [status, ...(error === undefined ? [] : [error])].join(' '));
}

const untilOutcomes = async (client: Client, operation: string, expected: readonly string[]) => {
  await until(async () => (await outcomes(client, operation)).length >= expected.length);
  expect(await outcomes(client, operation)).toEqual(expected);
};

/** Bytes of a line that are few tokens, so that a large text is few chunks. */
const LINE = `${'-'.repeat(127)}\n`;

/** A caller of a few texts that together are more than the buffers of a connection hold. */
async function callerOfLargeTexts(name: string, { texts = 4, bytes = 3_000_000 } = {}): Promise<Client> {
  const client = service.client(name);
  const text = `The heron stands in the reeds and waits for fish.\n${LINE.repeat(bytes / LINE.length)}`;
  for (let n = 0; n < texts; n += 1) {
    const { status } = await client.ingestText(`${String(n)} ${text}`, {}, { Prefer: 'wait=100' });
    expect(status).toBe(200);
  }
  return client;
}

const SEARCH = { query: 'Where does the heron stand?', k: 10 };

describe('an answer of /retrieve/docs', () => {
  let client: Client;
  beforeAll(async () => {
    client = await callerOfLargeTexts('documents');
  });

  test('that is whole is one success, which can be read as soon as it has been received', async () => {
    const before = (await outcomes(client, 'retrieve_docs')).length;
    const connection = await post(client, '/retrieve/docs', { ...SEARCH, k: 1 });
    await connection.until(/\r\n0\r\n\r\n$/);
    expect((await outcomes(client, 'retrieve_docs')).slice(0, -before || undefined)).toEqual(['success']);
    connection.socket.destroy();
  });

  test('whose client leaves on the way is an error that says so', async () => {
    const leaving = service.client('documents');
    const before = await outcomes(leaving, 'retrieve_docs');
    const connection = await post(leaving, '/retrieve/docs', SEARCH);
    await connection.until(/200 OK/);
    connection.socket.destroy();
    await untilOutcomes(leaving, 'retrieve_docs', ['error client_closed', ...before]);
  });

  test('whose client takes nothing is cut off by us, and an error that says so', async () => {
    const before = await outcomes(client, 'retrieve_docs');
    const connection = await post(client, '/retrieve/docs', SEARCH);
    await connection.until(/200 OK/);
    connection.socket.pause();
    await untilOutcomes(client, 'retrieve_docs', ['error stalled', ...before]);
    connection.socket.resume();
    expect(await connection.closed()).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test('that breaks after its first byte is cut off, and an error', async () => {
    const before = await outcomes(client, 'retrieve_docs');
    const connection = await post(client, '/retrieve/docs', SEARCH);
    await connection.until(/200 OK/);
    connection.socket.pause();
    const objects = join(service.dataDirectory, 'objects', 'objects');
    await rename(objects, `${objects}-away`);
    try {
      connection.socket.resume();
      expect(await connection.closed()).not.toMatch(/\r\n0\r\n\r\n$/);
      await untilOutcomes(client, 'retrieve_docs', ['error', ...before]);
    } finally {
      await rename(`${objects}-away`, objects);
    }
  });
});

test('a text that its reader takes slowly is cut off once it may no longer be read', async () => {
  // More than the buffers between the two hold: 8 MB, nearly as large as a text can be.
  const client = await callerOfLargeTexts('revoked', { texts: 1, bytes: 8_000_000 });
  const { body: documents } = await client.get<WireDocument[]>('/documents');
  const connection = await post(client, '/retrieve/docs', SEARCH);
  await connection.until(/200 OK/);
  connection.socket.pause();
  for (const { external_id: id } of documents)
    expect((await client.delete(`/documents/${id}`)).status).toBe(200);
  // Later than the next check, sooner than the connection counts as stalled.
  await sleep(1_200);
  connection.socket.resume();
  expect(await connection.closed()).not.toMatch(/\r\n0\r\n\r\n$/);
  await untilOutcomes(client, 'retrieve_docs', ['error']);
});

describe('a streamed completion', () => {
  const question = { query: 'Where does the heron stand?', stream: true };
  const caller = async (name: string) => {
    const client = service.client(name);
    await client.ingestText('The heron stands in the reeds.');
    return client;
  };

  test.each(['dropped', 'failed', 'stalled'] as const)(
    'whose provider is %s on the way ends in an error event and is an error',
    async (stream) => {
      const client = await caller(`query-${stream}`);
      provider.configure({ stream, wordsBefore: 2, wordDelayMilliseconds: 300 });
      const connection = await post(client, '/query', question);
      const text = await connection.until(/\r\n0\r\n\r\n$/);
      expect(text).toContain('event: error');
      expect(text).not.toContain('"type":"end"');
      expect(await outcomes(client, 'query')).toEqual(['error']);
      connection.socket.destroy();
    },
  );

  test('whose client leaves on the way is an error that says so', async () => {
    const client = await caller('query-left');
    provider.configure({ wordDelayMilliseconds: 200 });
    const connection = await post(client, '/query', question);
    await connection.until(/"type":"token"/);
    connection.socket.destroy();
    await untilOutcomes(client, 'query', ['error client_closed']);
  });

  test('that is whole is one success, which can be read with its last event', async () => {
    const client = await caller('query-whole');
    const connection = await post(client, '/query', question);
    await connection.until(/"type":"end"/);
    expect(await outcomes(client, 'query')).toEqual(['success']);
    connection.socket.destroy();
  });
});

test('a question to a cache whose provider breaks off on the way is an error', async () => {
  const client = service.client('cached');
  await client.ingestText('The heron stands in the reeds.');
  const made = await client.post('/cache/create', { name: 'birds', model: 'm', gguf_file: 'f', filters: {} });
  expect(made.status).toBe(200);
  provider.configure({ stream: 'dropped', wordsBefore: 2 });
  expect((await client.post('/cache/birds/query', { query: 'Where?' })).status).toBe(503);
  expect(await outcomes(client, 'query_cache')).toEqual(['error']);
});
