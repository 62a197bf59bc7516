import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { documentView } from '../../src/api/routes/document-view.js';
import { jsonBody, makeToken, type ApiAnswer } from '../support/api.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { playFailure, playIngest, queuedDocument } from '../support/play-worker.js';

let api: DocumentApi;
const token = makeToken();

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3 });
});
afterAll(async () => {
  await api.close();
});

const ingest = (body: unknown, prefer?: string, as = token): Promise<ApiAnswer> => {
  const headers = { 'Content-Type': 'application/json', ...(prefer === undefined ? {} : { Prefer: prefer }) };
  return api.request('/ingest/text', { method: 'POST', body: JSON.stringify(body), headers, token: as });
};
const documentOf = (answer: ApiAnswer) => documentView.parse(answer.body);
const itemsOf = (answer: ApiAnswer) =>
  z.object({ detail: z.array(z.object({ loc: z.array(z.unknown()), type: z.string() })) }).parse(answer.body)
    .detail;

/** Removes jobs of earlier tests, so that the next ingest is the only one that waits. */
const forgetJobs = () => api.jobs.queue('ingestion-quick').drain();

describe('POST /ingest/text', () => {
  test('answers at once with 202, the queued document and where its status is, when asked not to wait', async () => {
    const answer = await ingest({ content: 'hello', metadata: { a: 1 }, filename: 'x.txt' }, 'respond-async');
    const document = documentOf(answer);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/documents/${document.external_id}/status`);
    expect(answer.headers.get('preference-applied')).toBe('respond-async');
    expect(document).toMatchObject({
      content_type: 'text/plain',
      filename: 'x.txt',
      metadata: { a: 1 },
      storage_info: {},
      access_control: { readers: ['alice'], writers: ['alice'], admins: ['alice'] },
      chunk_ids: [],
      system_metadata: {
        version: 1,
        published_version: null,
        status: 'queued',
        error: null,
        chunk_count: 0,
        size_bytes: 5,
        content_sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      },
    });
    const status = await api.request(answer.headers.get('location') ?? '', { token });
    expect(status.body).toMatchObject({ document_id: document.external_id, status: 'queued', version: 1 });
  });

  test('answers 200 with the completed document as soon as it is searchable', async () => {
    await forgetJobs();
    const answering = ingest({ content: 'ready soon' });
    const id = await queuedDocument(api);
    await playIngest(api, id, ['ready', 'soon']);
    const published = performance.now();
    const answer = await answering;
    // The wait would be twenty seconds.
    expect(performance.now() - published).toBeLessThan(5_000);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('location')).toBeNull();
    expect(documentOf(answer)).toMatchObject({
      external_id: id,
      chunk_ids: [`${id}-0`, `${id}-1`],
      system_metadata: {
        status: 'completed',
        published_version: 1,
        chunk_count: 2,
        token_count: 6,
        progress: 1,
      },
    });
  });

  test('waits as long as the client prefers, then answers 202', async () => {
    const start = performance.now();
    const answer = await ingest({ content: 'slow' }, 'wait=1');
    const waited = performance.now() - start;
    expect(answer.status).toBe(202);
    expect(answer.headers.get('preference-applied')).toBe('wait=1');
    expect(waited).toBeGreaterThan(900);
    expect(waited).toBeLessThan(10_000);
  });

  test('ignores a wait that is out of bounds', async () => {
    const answer = await ingest({ content: 'slow' }, 'wait=121, respond-async');
    expect(answer.headers.get('preference-applied')).toBe('respond-async');
  });

  test.each([
    ['empty_document', 400],
    ['provider', 503],
    ['internal', 503],
  ] as const)('answers a document that fails with %s while it waits with %i', async (code, status) => {
    await forgetJobs();
    const answering = ingest({ content: 'will fail' });
    const id = await queuedDocument(api);
    await playFailure(api, id, code);
    const answer = await answering;
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ detail: `it is ${code}` });
    expect(answer.headers.get('location')).toBe(`/documents/${id}`);
    expect(answer.headers.has('retry-after')).toBe(status === 503);
    const failed = documentOf(await api.request(`/documents/${id}`, { token }));
    expect(failed.system_metadata).toMatchObject({ status: 'failed', error: { code } });
  });

  test('adds the owner to all lists and keeps the others that were named', async () => {
    const access = { readers: ['bob', 'alice'], writers: null, admins: [] };
    const answer = await ingest({ content: 'shared', access_control: access }, 'respond-async');
    expect(documentOf(answer).access_control).toEqual({
      readers: ['alice', 'bob'],
      writers: ['alice'],
      admins: ['alice'],
    });
  });

  test('takes null for every optional field as absent', async () => {
    const body = { content: 'plain', metadata: null, filename: null, access_control: null, rules: [] };
    const answer = await ingest(body, 'respond-async');
    expect(documentOf(answer)).toMatchObject({ metadata: {}, filename: null });
  });

  test('lists all that is wrong with a body', async () => {
    const answer = await ingest({ content: '  ', metadata: [], access_control: { readers: [''] } });
    expect(answer.status).toBe(422);
    expect(itemsOf(answer)).toEqual([
      expect.objectContaining({ loc: ['body', 'content'], type: 'value_error.any_str.min_length' }),
      expect.objectContaining({ loc: ['body', 'metadata'], type: 'type_error.dict' }),
      expect.objectContaining({
        loc: ['body', 'access_control', 'readers', 0],
        type: 'value_error.any_str.min_length',
      }),
    ]);
    expect(itemsOf(await ingest({}))).toEqual([
      expect.objectContaining({ loc: ['body', 'content'], type: 'value_error.missing' }),
    ]);
  });

  test('refuses metadata over 16 KiB or 128 leaves', async () => {
    const large = await ingest({ content: 'x', metadata: { text: 'x'.repeat(16 * 1024) } });
    const wide = await ingest({ content: 'x', metadata: { list: Array.from({ length: 129 }, () => 1) } });
    expect([large.status, wide.status]).toEqual([422, 422]);
  });

  test('needs the write permission', async () => {
    const reader = makeToken({ permissions: ['read'] });
    expect((await ingest({ content: 'x' }, undefined, reader)).status).toBe(403);
  });

  test('counts nothing until the version is final, then once, for the step that ended it', async () => {
    const as = makeToken({ entity_id: 'counter' });
    const answer = await ingest({ content: 'count me' }, 'respond-async', as);
    expect(await api.usage.stats('counter')).toEqual({});
    const id = documentOf(answer).external_id;
    await playIngest(api, id, ['count me']);
    expect(await api.usage.stats('counter')).toEqual({ ingest_text: 1 });
    const [event] = await api.usage.recent('counter', { limit: 10 });
    expect(event).toMatchObject({ tokens: 3, status: 'success', metadata: { document_id: id } });
  });

  test('goes on with an ingest whose client went away while it waited', async () => {
    await forgetJobs();
    const leaving = new AbortController();
    const init = jsonBody({ content: 'goodbye' });
    const answering = api.request('/ingest/text', { ...init, token, signal: leaving.signal });
    const id = await queuedDocument(api);
    leaving.abort();
    await expect(answering).rejects.toThrow();
    await playIngest(api, id, ['goodbye']);
    const answer = await api.request(`/documents/${id}`, { token });
    expect(documentOf(answer).system_metadata.status).toBe('completed');
  });
});
