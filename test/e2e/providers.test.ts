import { describe, expect, test } from '@jest/globals';
import type { Client, WireDocument } from '../support/client.js';
import { startService } from '../support/service.js';
import { EMBEDDING } from '../support/shared/environments.js';
import { useFakeOpenAI } from '../support/shared/use-fake-openai.js';
import { useService } from '../support/shared/use-service.js';
import { until } from '../support/until.js';

const provider = useFakeOpenAI({ refusedText: 'unspeakable' });
const service = useService({ ...EMBEDDING, provider });
const user = service.client;

const openai = (more: Record<string, string>) => ({
  ...EMBEDDING.env,
  [EMBEDDING.providedBy]: provider.url,
  ...more,
});
const down = {
  failures: Array.from({ length: 1_000 }, () => ({ status: 503, headers: { 'retry-after': '1' } })),
};

async function documentOf(client: Client, id: string): Promise<WireDocument> {
  return (await client.get<WireDocument>(`/documents/${id}`)).body;
}

describe('with an embedding provider', () => {
  test('the score of a search is the cosine similarity, clamped', async () => {
    const client = user('cosine');
    await client.ingestText('alpha beta gamma delta');
    await client.ingestText('alpha epsilon');
    await client.ingestText('something else entirely');
    const { body } = await client.searchChunks('alpha beta gamma delta');
    const scores = body.map(({ score }) => score);
    expect(scores[0]).toBeCloseTo(1, 5);
    expect(scores[1]).toBeCloseTo(1 / Math.sqrt(8), 3);
    expect(scores).toHaveLength(3);
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect((await client.searchChunks('alpha beta gamma delta', { min_score: 0.9 })).body).toHaveLength(1);
  });
});

describe('an embedding provider that is down', () => {
  test('refuses no ingest: it goes on later by itself; searches are 503 meanwhile, never empty', async () => {
    const client = user('outage');
    const before = await client.ingestText('A text from before: kumquat.');
    expect(before.status).toBe(200);
    provider.configure(down);
    const accepted = await client.ingestText('A text from the outage: persimmon.', {}, { Prefer: 'wait=1' });
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get('location')).toBe(`/documents/${accepted.body.external_id}/status`);
    const replaced = await client.put<WireDocument>(
      ...([`/documents/${before.body.external_id}/content`, { content: 'A newer text: loquat.' }] as const),
      { Prefer: 'wait=1' },
    );
    expect(replaced).toMatchObject({
      status: 202,
      body: { system_metadata: { version: 2, published_version: 1 } },
    });
    for (const path of ['/retrieve/chunks', '/retrieve/docs', '/query']) {
      const reply = await client.post(path, { query: 'kumquat' });
      expect([path, reply.status, reply.body]).toEqual([path, 503, { detail: expect.any(String) }]);
      expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    expect((await documentOf(client, accepted.body.external_id)).system_metadata).toMatchObject({
      status: expect.stringMatching(/^(queued|processing)$/),
      error: null,
    });
    const { body: errors } = await client.get<{ operation_type: string }[]>('/usage/recent?status=error');
    expect(errors.map(({ operation_type: operation }) => operation)).toEqual([
      'query',
      'retrieve_docs',
      'retrieve_chunks',
    ]);
    provider.reset();
    for (const id of [accepted.body.external_id, before.body.external_id]) {
      await until(async () => (await documentOf(client, id)).system_metadata.status === 'completed');
    }
    const { body: found } = await client.searchChunks('persimmon');
    expect(found[0]?.content).toContain('persimmon');
    expect((await client.get('/usage/stats')).body).toEqual({ ingest_text: 3, retrieve_chunks: 1 });
  });
});

describe('an embedding provider that refuses a text for good', () => {
  test('fails its document with `provider`, 503 to who waits; others go on, the version before answers', async () => {
    const client = user('refusal');
    const id = (await client.ingestText('A first version: tamarind.')).body.external_id;
    const [refused, fine] = await Promise.all([
      client.ingestText('An unspeakable text.'),
      client.ingestText('A fine text beside it.'),
    ]);
    expect(fine.status).toBe(200);
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.any(String) } });
    expect(JSON.stringify(refused.body)).not.toContain('unspeakable');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    const location = refused.headers.get('location') ?? '';
    const failed = await client.get<WireDocument>(location);
    expect(failed.body.system_metadata).toMatchObject({
      status: 'failed',
      published_version: null,
      chunk_count: 0,
      error: { code: 'provider', message: expect.any(String), stage: 'embedding' },
    });
    const worse = await client.put(`/documents/${id}/content`, { content: 'An unspeakable version.' });
    expect(worse.status).toBe(503);
    expect((await documentOf(client, id)).system_metadata).toMatchObject({
      version: 2,
      published_version: 1,
      status: 'failed',
      error: { code: 'provider' },
    });
    const { body: found } = await client.searchChunks('tamarind', { k: 1 });
    expect(found[0]?.content).toBe('A first version: tamarind.');
    const { body: errors } = await client.get<{ metadata: unknown }[]>('/usage/recent?status=error');
    expect(errors).toMatchObject([{ metadata: { error: 'provider' } }, { metadata: { error: 'provider' } }]);
    // A query that is refused has no document to fail.
    const query = await client.searchChunks('unspeakable');
    expect([query.status, query.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    // The provider takes the text at a retry.
    provider.configure({ refusedText: null });
    expect((await client.post(`${location}/retry`)).status).toBe(200);
    expect((await client.get(location)).body).toMatchObject({ system_metadata: { status: 'completed' } });
  });
});

describe('settings that name another model than the data was embedded with', () => {
  test.each([
    ['the builtin one', () => ({ QUIRE_EMBEDDER: 'builtin' })],
    ['another of the provider', () => openai({ QUIRE_EMBEDDING_MODEL: 'another-model' })],
    ['other dimensions', () => openai({ QUIRE_EMBEDDING_DIMENSIONS: '128' })],
  ])('stop the start and say so: %s', async (_name, env) => {
    await user('model').ingestText('Data of the first model.');
    // Its API alone: the workers of the service before are there.
    const { redis, dataDirectory } = service;
    const start = startService({ dataDirectory, workers: [], env: { ...env(), REDIS_URL: redis.url } });
    await expect(start).rejects.toThrow(
      /was embedded with openai:text-embedding-3-small, but the settings name/,
    );
  });
});
