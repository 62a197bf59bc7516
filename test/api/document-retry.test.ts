import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, documentOf, idsOf, type User } from '../support/document-client.js';
import { playFailure, playIngest } from '../support/play-worker.js';
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

describe('retry and cancel', () => {
  const ask = (id: string, action: string, headers = soon) =>
    user.send('POST', `/documents/${id}/${action}`, undefined, headers);

  test('cancel stops an ingest; a request that waits for it is told', async () => {
    const own = createUser(api, 'canceller');
    const answering = own.send('POST', '/ingest/text', { content: 'slow' });
    let id = '';
    await until(async () => (id = idsOf(await own.get('/documents'))[0] ?? '') !== '');
    const answer = await own.send('POST', `/documents/${id}/cancel`);
    expect(answer.status).toBe(200);
    expect(documentOf(answer).system_metadata).toMatchObject({ status: 'cancelled', error: null });
    expect((await answering).status).toBe(409);
    expect(await api.usage.recent('canceller', { limit: 10 })).toMatchObject([
      { status: 'error', metadata: { error: 'cancelled' } },
    ]);
  });

  test.each(['completed', 'failed', 'cancelled'])('cancel leaves what is %s as it is', async (status) => {
    const id = await user.ingest('text');
    if (status === 'completed') await playIngest(api, id, ['text']);
    if (status === 'failed') await playFailure(api, id, 'no_text');
    if (status === 'cancelled') await ask(id, 'cancel');
    const before = documentOf(await user.get(`/documents/${id}`));
    const answer = await ask(id, 'cancel');
    expect([answer.status, answer.body]).toEqual([200, before]);
  });

  test('retry takes up attachments of which no documents could be made', async () => {
    const id = await user.ingest('text');
    await playIngest(api, id, ['text']);
    const [made, missed] = ['00000000-0000-8000-8000-000000000001', '00000000-0000-8000-8000-000000000002'];
    await api.records.update(id, (record) => {
      const carried = { ids: [made, missed], waiting: [], missed: [missed], callerId: 'alice' };
      return (
        record.published && { record: { ...record, published: { ...record.published, gaps: 2, carried } } }
      );
    });
    const answer = await ask(id, 'retry');
    expect(answer.status).toBe(200);
    expect(documentOf(answer).system_metadata).toMatchObject({ status: 'completed', gaps: 1 });
    expect((await api.records.read(id))?.published?.carried).toMatchObject({ waiting: [missed], missed: [] });
    const [job] = await api.jobs.queue('ingestion').getJobs(['prioritized'], 0, -1, false);
    expect(job).toMatchObject({ name: 'make-waiting', data: { documentId: id } });
    const stranger = createUser(api, 'stranger');
    expect((await stranger.send('POST', `/documents/${id}/retry`)).status).toBe(403);
  });

  test.each(['failed', 'cancelled'])('retry ingests again what is %s', async (status) => {
    const id = await user.ingest('text');
    if (status === 'failed') await playFailure(api, id, 'timeout');
    else await ask(id, 'cancel');
    const answer = await ask(id, 'retry');
    expect(answer.status).toBe(202);
    expect(documentOf(answer).system_metadata).toMatchObject({ status: 'queued', version: 1, error: null });
    const jobs = await api.jobs.queue('ingestion-quick').getJobs(['prioritized'], 0, -1, false);
    expect(jobs.map((job): unknown => job.data)).toContainEqual(
      expect.objectContaining({ documentId: id, version: 1, attempt: 2 }),
    );
    await playIngest(api, id, ['text']);
    expect(await systemOf(id)).toMatchObject({ status: 'completed', published_version: 1 });
  });

  test('retry waits, and is no error when it fails again', async () => {
    const id = await user.ingest('text');
    await playFailure(api, id, 'no_text');
    const answering = ask(id, 'retry', { Prefer: 'wait=5' });
    await until(async () => (await api.records.read(id))?.status === 'queued');
    await playFailure(api, id, 'no_text');
    const answer = await answering;
    expect(answer.status).toBe(200);
    expect(documentOf(answer).system_metadata.status).toBe('failed');
  });

  test('retry leaves what is completed as it is', async () => {
    const id = await user.ingestCompleted(['text']);
    const before = documentOf(await user.get(`/documents/${id}`));
    const answer = await ask(id, 'retry');
    expect([answer.status, answer.body]).toEqual([200, before]);
  });

  test('a retry is an operation of its own', async () => {
    const own = createUser(api, 'retrier');
    const id = await own.ingest('text');
    await playFailure(api, id, 'timeout');
    await own.send('POST', `/documents/${id}/retry`, undefined, soon);
    await playIngest(api, id, ['text']);
    const events = await api.usage.recent('retrier', { limit: 10 });
    expect(events.map(({ status }) => status)).toEqual(['success', 'error']);
  });
});
