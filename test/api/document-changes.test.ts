import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generationId } from '../../src/shared/document.js';
import { startAttempt } from '../../src/shared/documents/transitions.js';
import { keys } from '../../src/shared/redis/keys.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, idsOf, type User } from '../support/document-client.js';
import { playFailure, playIngest, playRetag } from '../support/play-worker.js';
import { until } from '../support/until.js';

let api: DocumentApi;
let user: User;

beforeAll(async () => {
  api = await startDocumentApi({ waitSeconds: 3 });
  user = createUser(api, 'alice');
});
afterAll(async () => {
  await api.close();
});

const soon = { Prefer: 'respond-async' };
const systemOf = async (id: string) => documentOf(await user.get(`/documents/${id}`)).system_metadata;
const put = (id: string, body: unknown, headers = soon) =>
  user.send('PUT', `/documents/${id}/content`, body, headers);

describe('PATCH /documents/{document_id}', () => {
  test('replaces the metadata whole and the file name, and keeps the version', async () => {
    const id = await user.ingestCompleted(['text'], { metadata: { a: 1, b: 2 }, filename: 'old.txt' });
    const answering = user.send('PATCH', `/documents/${id}`, { metadata: { c: 3 }, filename: 'new.txt' });
    await until(async () => ((await api.records.read(id))?.retag ?? 0) > 0);
    await playRetag(api, id);
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(documentOf(answer)).toMatchObject({
      metadata: { c: 3 },
      filename: 'new.txt',
      system_metadata: { version: 1, published_version: 1, status: 'completed', stage: 'completed' },
    });
  });

  test('answers 202 while searches may not see the change yet, with stage access', async () => {
    const id = await user.ingestCompleted(['text']);
    const answer = await user.send('PATCH', `/documents/${id}`, { metadata: { a: 1 } }, soon);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/documents/${id}/status`);
    expect(await systemOf(id)).toMatchObject({ status: 'completed', stage: 'access' });
    const [job] = await api.jobs.queue('maintenance').getJobs(['prioritized'], 0, 0, false);
    expect(job?.data).toMatchObject({ documentId: id, mark: expect.any(Number) });
    await playRetag(api, id);
    expect(await systemOf(id)).toMatchObject({ status: 'completed', stage: 'completed' });
  });

  test('is seen by the list at once', async () => {
    const own = createUser(api, 'patcher');
    const id = await own.ingest('text', { metadata: { state: 'draft' } });
    await own.send('PATCH', `/documents/${id}`, { metadata: { state: 'final' } }, soon);
    const listed = async (state: string) =>
      idsOf(await own.get(`/documents?filters=${encodeURIComponent(JSON.stringify({ state }))}`));
    expect([await listed('draft'), await listed('final')]).toEqual([[], [id]]);
  });

  test('changes nothing where nothing is given', async () => {
    const id = await user.ingestCompleted(['text'], { metadata: { a: 1 } });
    const before = documentOf(await user.get(`/documents/${id}`));
    for (const body of [
      {},
      { metadata: null, filename: null, access_control: null },
      { access_control: {} },
    ]) {
      const answer = await user.send('PATCH', `/documents/${id}`, body);
      expect([answer.status, answer.body]).toEqual([200, before]);
    }
  });

  test('refuses what an ingest would refuse', async () => {
    const id = await user.ingest('text');
    const answer = await user.send('PATCH', `/documents/${id}`, { metadata: 'x', filename: ' ' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      detail: [{ loc: ['body', 'metadata'] }, { loc: ['body', 'filename'] }],
    });
  });
});

describe('PUT /documents/{document_id}/content', () => {
  test('makes a new version, while the old one stays what is shown', async () => {
    const id = await user.ingestCompleted(['old']);
    const before = documentOf(await user.get(`/documents/${id}`));
    const answer = await put(id, { content: 'newer' });
    expect(answer.status).toBe(202);
    expect(documentOf(answer)).toMatchObject({
      chunk_ids: before.chunk_ids,
      system_metadata: {
        version: 2,
        published_version: 1,
        status: 'queued',
        chunk_count: 1,
        content_sha256: before.system_metadata.content_sha256,
        size_bytes: 3,
      },
    });
    expect((await user.get(`/documents/${id}/download`)).text).toBe('old');
    await playIngest(api, id, ['newer', 'text']);
    expect(await systemOf(id)).toMatchObject({
      version: 2,
      published_version: 2,
      chunk_count: 2,
      size_bytes: 5,
    });
    expect((await user.get(`/documents/${id}/download`)).text).toBe('newer');
  });

  test('waits for the new version like an ingest', async () => {
    const id = await user.ingestCompleted(['old']);
    const answering = put(id, { content: 'new' }, { Prefer: 'wait=5' });
    await until(async () => (await api.records.read(id))?.version === 2);
    await playIngest(api, id, ['new']);
    const answer = await answering;
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'wait=5']);
    expect(documentOf(answer).system_metadata).toMatchObject({ published_version: 2, status: 'completed' });
  });

  test('keeps the published version when the new one fails', async () => {
    const id = await user.ingestCompleted(['old']);
    const answering = put(id, { content: 'bad' }, { Prefer: 'wait=5' });
    await until(async () => (await api.records.read(id))?.version === 2);
    await playFailure(api, id, 'too_large');
    expect((await answering).status).toBe(400);
    expect(await systemOf(id)).toMatchObject({
      version: 2,
      published_version: 1,
      status: 'failed',
      chunk_count: 1,
      error: { code: 'too_large' },
    });
    expect((await user.get(`/documents/${id}/chunks`)).body).toMatchObject([{ content: 'old' }]);
  });

  test('changes nothing for the content that is there', async () => {
    const id = await user.ingestCompleted(['same'], { filename: 'a.txt' });
    const files = await api.storedFiles();
    const before = documentOf(await user.get(`/documents/${id}`));
    const answer = await put(id, { content: 'same' });
    expect([answer.status, answer.body]).toEqual([200, before]);
    expect((await api.storedFiles()).sort()).toEqual(files.sort());
    expect(await api.usage.stats('alice')).not.toHaveProperty('ingest_file');
    expect((await put(id, { content: 'same', filename: 'b.txt' })).status).toBe(202);
  });

  test('takes a file, which is no text even with the same bytes', async () => {
    const id = await user.ingestCompleted(['same']);
    const answer = await user.upload('same', 'same.txt', `/documents/${id}/content`);
    expect(answer.status).toBe(202);
    await playIngest(api, id, ['same']);
    expect(documentOf(await user.get(`/documents/${id}`))).toMatchObject({
      filename: 'same.txt',
      storage_info: { bucket: 'disk' },
      system_metadata: { version: 2 },
    });
    expect((await user.upload('same', 'same.txt', `/documents/${id}/content`)).status).toBe(200);
  });

  test('supersedes a version that is not ready: its ingest counts as an error', async () => {
    const own = createUser(api, 'superseder');
    const id = await own.ingest('one');
    const fence = { documentId: id, version: 1, attempt: 1 };
    const { record: first } = await api.records.update(id, (record) => startAttempt(record, fence));
    await own.send('PUT', `/documents/${id}/content`, { content: 'two' }, soon);
    await playIngest(api, id, ['two']);
    const [second, superseded] = await api.usage.recent('superseder', { limit: 10 });
    expect(superseded).toMatchObject({ status: 'error', metadata: { error: 'superseded' } });
    expect(second).toMatchObject({ status: 'success' });
    expect(await api.redis.sIsMember(keys.garbage, first ? generationId(first) : '')).toBe(1);
  });

  test('refuses what is no content, and leaves no bytes behind', async () => {
    const id = await user.ingestCompleted(['text']);
    const files = await api.storedFiles();
    const missing = await api.request(`/documents/${id}/content`, {
      method: 'PUT',
      token: user.token,
      body: new FormData(),
    });
    const statuses = [
      (await put(id, { content: '' })).status,
      (await put(id, undefined)).status,
      missing.status,
      (await user.upload(new Blob([Buffer.alloc(100)]), 'a.bin', `/documents/${id}/content`)).status,
      (await createUser(api, 'stranger').upload('x', 'a.txt', `/documents/${id}/content`)).status,
      (await user.upload('x', 'a.txt', '/documents/00000000-0000-4000-8000-000000000000/content')).status,
    ];
    expect(statuses).toEqual([422, 422, 422, 415, 403, 404]);
    expect((await api.storedFiles()).sort()).toEqual(files.sort());
  });
});

describe('DELETE /documents/{document_id}', () => {
  test('removes the document at once and for good', async () => {
    const own = createUser(api, 'deleter');
    const id = await own.ingestCompleted(['text']);
    const { generation } = (await api.records.read(id))?.published ?? {};
    const answer = await own.send('DELETE', `/documents/${id}`);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    for (const path of ['', '/status', '/chunks', '/download']) {
      expect((await own.get(`/documents/${id}${path}`)).status).toBe(404);
    }
    expect((await own.send('DELETE', `/documents/${id}`)).status).toBe(404);
    expect(idsOf(await own.get('/documents'))).toEqual([]);
    const jobs = await api.jobs.queue('maintenance').getJobs(['prioritized'], 0, -1, false);
    expect(jobs.map((job): unknown => job.data)).toContainEqual({ callerId: 'deleter', generation });
  });

  test('ends an ingest that waits, as an error with its code', async () => {
    const own = createUser(api, 'ender');
    const answering = own.send('POST', '/ingest/text', { content: 'never' });
    let id = '';
    await until(async () => (id = idsOf(await own.get('/documents'))[0] ?? '') !== '');
    await own.send('DELETE', `/documents/${id}`);
    expect((await answering).status).toBe(404);
    expect(await api.usage.recent('ender', { limit: 10 })).toMatchObject([
      { status: 'error', metadata: { error: 'deleted' } },
    ]);
  });
});
