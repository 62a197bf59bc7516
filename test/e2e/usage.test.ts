import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRedis, type Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Client, WireDocument } from '../support/client.js';
import { lanesOf, whilePaused } from '../support/paused-queues.js';
import { EVERYDAY } from '../support/shared/environments.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const service = useService({ env: EVERYDAY });
let redis: Redis;

beforeAll(async () => {
  redis = createRedis(service.redis.url, { failFast: false, onError: () => undefined });
  await redis.connect();
});

afterAll(async () => {
  await redis.close();
});

const user = service.client;

interface UsageRecord {
  readonly timestamp: string;
  readonly operation_type: string;
  readonly tokens_used: number;
  readonly user_id: string;
  readonly duration_ms: number;
  readonly status: string;
  readonly metadata: { readonly document_id?: string; readonly error?: string };
}

async function recordsOf(client: Client, query = ''): Promise<UsageRecord[]> {
  const { status, body } = await client.get<UsageRecord[]>(`/usage/recent${query}`);
  expect(status).toBe(200);
  return body;
}

const statsOf = async (client: Client) => (await client.get('/usage/stats')).body;

/** A record's operation, status and error. */
const summary = ({ operation_type: operation, status, metadata: { error } }: UsageRecord) =>
  [operation, status, ...(error === undefined ? [] : [error])].join(' ');

const idOf = ({ body }: { body: WireDocument }) => body.external_id;

/** Until the usage worker has moved all pending events of everybody. */
const untilMoved = () => until(async () => (await redis.exists(keys.usageDirty)) === 0);

describe('each operation', () => {
  test('leaves one record, there with its response, and counts once', async () => {
    const client = user('counted');
    const started = Date.now();
    const text = await client.ingestText('The secret ingredient is saffron.', { filename: 'recipe.txt' });
    const [first] = await recordsOf(client);
    expect(first).toEqual({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      operation_type: 'ingest_text',
      tokens_used: text.body.system_metadata.token_count,
      user_id: service.caller('counted'),
      duration_ms: expect.any(Number),
      status: 'success',
      metadata: { document_id: idOf(text), filename: 'recipe.txt' },
    });
    expect(Number.isInteger(first?.duration_ms)).toBe(true);
    expect(Date.parse(first?.timestamp ?? '')).toBeGreaterThanOrEqual(started);
    expect(await statsOf(client)).toEqual({ ingest_text: 1 });

    const file = await client.ingestFile(Buffer.from('The chef is called Amira.'), 'chef.txt');
    expect((await recordsOf(client))[0]).toMatchObject({
      operation_type: 'ingest_file',
      tokens_used: file.body.system_metadata.token_count,
      metadata: { document_id: idOf(file), filename: 'chef.txt' },
    });
    const query = 'What is the ingredient?';
    const asked = { query, k: 3, min_score: 0.1 };
    for (const [path, operation] of [
      ['/retrieve/chunks', 'retrieve_chunks'],
      ['/retrieve/docs', 'retrieve_docs'],
    ] as const) {
      expect((await client.post(path, { ...asked, filters: { private: 'value' } })).status).toBe(200);
      const [record] = await recordsOf(client);
      expect(record).toMatchObject({ operation_type: operation, status: 'success', tokens_used: 5 });
      expect(record?.metadata).toEqual(asked);
    }
    const answer = await client.post<{ usage: { total_tokens: number } }>('/query', asked);
    const [answered] = await recordsOf(client);
    expect(answered).toMatchObject({ operation_type: 'query', metadata: asked });
    expect(answered?.tokens_used).toBe(answer.body.usage.total_tokens);

    const all = ['query', 'retrieve_docs', 'retrieve_chunks', 'ingest_file', 'ingest_text'];
    const operations = async () =>
      (await recordsOf(client)).map(({ operation_type: operation }) => operation);
    expect(await operations()).toEqual(all);
    const counts = Object.fromEntries(all.map((operation) => [operation, 1]));
    expect(await statsOf(client)).toEqual(counts);
    await untilMoved();
    expect(await operations()).toEqual(all);
    expect(await statsOf(client)).toEqual(counts);
    // Never what documents hold.
    const shown = JSON.stringify(await recordsOf(client));
    for (const word of ['saffron', 'Amira']) expect(shown).not.toContain(word);
    expect(await recordsOf(user('counted-not'))).toEqual([]);
    expect(await statsOf(user('counted-not'))).toEqual({});
  });

  test('that is streamed has its record before the last event', async () => {
    const client = user('streamed');
    await client.ingestText('The stream ends at the old mill.');
    const response = await fetch(`${service.url}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: client.authorization },
      body: JSON.stringify({ query: 'Where does the stream end?', stream: true }),
    });
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.includes('"type":"end"')) break;
    }
    const [record] = await recordsOf(client);
    expect(record).toMatchObject({ operation_type: 'query', status: 'success' });
    expect(await statsOf(client)).toEqual({ ingest_text: 1, query: 1 });
  });

  test('is counted whatever its texts hold, and holds up nobody else', async () => {
    const [client, neighbour] = [user('strange'), user('strange-neighbour')];
    const loggedBefore = (await service.workerOutput()).length;
    const strange = ['\ud800 half a pair', '\udc00', 'nul \u0000 <|endoftext|>', '\ud83d\ude00 \\ud800 "\\'];
    await client.ingestText('Something.', {
      filename: 'half \ud800.txt',
      metadata: { whole: '\ud83d\ude00' },
    });
    for (const query of strange) expect((await client.searchChunks(query)).status).toBe(200);
    for (const query of strange) expect((await client.post('/query', { query })).status).toBe(200);
    await neighbour.ingestText('Something else.');
    await untilMoved();
    await client.searchChunks('after');
    expect(await statsOf(client)).toEqual({ ingest_text: 1, retrieve_chunks: 5, query: 4 });
    expect(await recordsOf(client)).toHaveLength(10);
    expect(await statsOf(neighbour)).toEqual({ ingest_text: 1 });
    expect((await service.workerOutput()).slice(loggedBefore)).not.toContain('job failed');
  });
});

describe('what was refused', () => {
  test('leaves no record', async () => {
    const client = user('refused');
    const theirs = await user('refused-other').ingestText('Not yours.');
    const mine = await client.ingestText('Mine.');
    const unknown = '00000000-0000-4000-8000-000000000000';
    const form = new FormData();
    form.set('metadata', '{}');
    const replies = [
      await client.ingestText('  '),
      await client.ingestText('text', { metadata: 'none' }),
      await client.send('POST', '/ingest/file', { body: form }),
      await client.ingestFile(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0), 'program.bin'),
      await client.searchChunks(''),
      await client.searchChunks('x', { filters: { n: { $like: 1 } } }),
      await client.post('/query', { query: 'x', max_tokens: 0 }),
      await client.post('/retrieve/docs', { query: 'x', k: 0 }),
      await client.put(`/documents/${idOf(theirs)}/content`, { content: 'x' }),
      await client.put(`/documents/${unknown}/content`, { content: 'x' }),
      await client.post(`/documents/${idOf(theirs)}/retry`),
      await user('refused', ['read']).ingestText('no permission'),
      await user('refused', ['write']).searchChunks('no permission'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([
      422, 422, 422, 415, 422, 422, 422, 422, 403, 404, 403, 403, 403,
    ]);
    // Nor does what changes nothing.
    expect((await client.put(`/documents/${idOf(mine)}/content`, { content: 'Mine.' })).status).toBe(200);
    expect((await client.post(`/documents/${idOf(mine)}/retry`)).status).toBe(200);
    expect((await client.post(`/documents/${idOf(mine)}/cancel`)).status).toBe(200);
    expect((await recordsOf(client)).map(summary)).toEqual(['ingest_text success']);
  });
});

describe('an ingest', () => {
  test('that fails is an error with its code; a retry is an operation of its own', async () => {
    const client = user('failing');
    const failed = await client.ingestFile(Buffer.from(' \n '), 'blank.txt');
    expect(failed.status).toBe(400);
    expect(await recordsOf(client)).toMatchObject([
      {
        operation_type: 'ingest_file',
        status: 'error',
        tokens_used: 0,
        metadata: { error: 'empty_document' },
      },
    ]);
    const id = failed.headers.get('location')?.split('/').at(-1) ?? '';
    expect((await client.post(`/documents/${id}/retry`)).status).toBe(200);
    expect((await recordsOf(client)).map(summary)).toEqual([
      'ingest_file error empty_document',
      'ingest_file error empty_document',
    ]);
    expect(await recordsOf(client, '?status=success')).toEqual([]);
    expect(await statsOf(client)).toEqual({});
  });

  test('answered 202 has its record with its final status; overtaken, cancelled, deleted ones are errors', async () => {
    const client = user('later');
    const old = idOf(await client.ingestText('An old text about quinces.'));
    const later = { Prefer: 'respond-async' };
    const ids: string[] = [];
    const expectErrors = async () => {
      const errors = await recordsOf(client, '?status=error');
      const [, cancelled, deleted, superseded, both] = ids;
      expect(errors.map(({ metadata }) => [metadata.document_id, metadata.error]).reverse()).toEqual([
        [cancelled, 'cancelled'],
        [deleted, 'deleted'],
        [superseded, 'superseded'],
        [both, 'superseded'],
        [both, 'deleted'],
      ]);
    };
    await whilePaused(service.redis.url, lanesOf('ingestion'), async () => {
      for (const name of ['plain', 'cancelled', 'deleted', 'superseded', 'both']) {
        const reply = await client.ingestText(`Text of ${name}.`, { filename: name }, later);
        expect(reply.status).toBe(202);
        ids.push(idOf(reply));
      }
      const [, cancelled = '', deleted = '', superseded = '', both = ''] = ids;
      expect(await recordsOf(client)).toHaveLength(1);
      expect((await client.post(`/documents/${cancelled}/cancel`)).status).toBe(200);
      expect((await client.delete(`/documents/${deleted}`)).status).toBe(200);
      const content = { content: 'Another text, about medlars.' };
      expect((await client.put(`/documents/${superseded}/content`, content, later)).status).toBe(202);
      expect((await client.put(`/documents/${old}/content`, content, later)).status).toBe(202);
      expect((await client.put(`/documents/${both}/content`, content, later)).status).toBe(202);
      expect((await client.delete(`/documents/${both}`)).status).toBe(200);
      await expectErrors();
    });
    const [plain = '', cancelled = '', , superseded = ''] = ids;
    const finalIds = [plain, superseded, old];
    await until(async () => {
      const documents = await Promise.all(finalIds.map((id) => client.get<WireDocument>(`/documents/${id}`)));
      return documents.every(({ body }) => body.system_metadata.status === 'completed');
    });
    const succeeded = await recordsOf(client, '?status=success');
    expect(succeeded.map(({ metadata }) => metadata.document_id).sort()).toEqual([...finalIds, old].sort());
    await expectErrors();
    expect((await client.post(`/documents/${cancelled}/retry`)).status).toBe(200);
    await untilMoved();
    expect(await statsOf(client)).toEqual({ ingest_text: 5 });
    expect(await recordsOf(client)).toHaveLength(10);
  });
});

describe('/usage/recent', () => {
  test('can be asked for an operation, a status, and since a time', async () => {
    const client = user('asking');
    await client.ingestText('A text.');
    await client.searchChunks('text');
    const [latest] = await recordsOf(client);
    const since = latest?.timestamp ?? '';
    expect(await recordsOf(client, '?operation_type=ingest_text')).toHaveLength(1);
    expect(await recordsOf(client, '?operation_type=nothing')).toEqual([]);
    expect(await recordsOf(client, '?status=success&limit=1')).toEqual([latest]);
    expect(await recordsOf(client, '?status=nothing')).toEqual([]);
    expect(await recordsOf(client, `?since=${since}&operation_type=retrieve_chunks`)).toEqual([latest]);
    expect(await recordsOf(client, `?since=${since.replace('Z', '')}&limit=1`)).toEqual([latest]);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    expect(await recordsOf(client, `?since=${tomorrow}`)).toEqual([]);
    for (const query of ['?limit=1001', '?limit=0', '?since=soon']) {
      expect((await client.get(`/usage/recent${query}`)).status).toBe(422);
    }
  });
});
