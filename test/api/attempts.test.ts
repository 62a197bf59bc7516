import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cancel } from '../../src/shared/documents/transitions.js';
import { LANES } from '../../src/shared/queues/lanes.js';
import { startDocumentApi, type DocumentApi } from '../support/document-api.js';
import { createUser, type User } from '../support/document-client.js';
import { makeDocument } from '../support/documents.js';

/** Requests that one caller may repeat for ever must not cost more each time, nor leave more behind. */

let api: DocumentApi;
let user: User;

beforeAll(async () => {
  api = await startDocumentApi();
  user = createUser(api, 'alice');
});
afterAll(async () => {
  await api.close();
});

const soon = { Prefer: 'respond-async' };

async function waitingJobs(): Promise<number> {
  const ingestion = LANES.filter((lane) => lane.startsWith('ingestion'));
  const counts = await Promise.all(ingestion.map((lane) => api.jobs.queue(lane).getPrioritizedCount()));
  return counts.reduce((sum, count) => sum + count, 0);
}

test.each([
  ['a short text', 'short'],
  ['a long text', 'long '.repeat(20_000)],
])('cancelling and retrying %s leaves one job, however often', async (_name, text) => {
  const id = await user.ingest(text);
  for (let i = 0; i < 10; i += 1) {
    expect((await user.send('POST', `/documents/${id}/cancel`, {})).status).toBe(200);
    expect(await waitingJobs()).toBe(0);
    expect((await user.send('POST', `/documents/${id}/retry`, {}, soon)).status).toBe(202);
    expect(await waitingJobs()).toBe(1);
  }
  expect(await api.records.read(id)).toMatchObject({ status: 'queued', attempt: 11 });
  expect((await user.send('DELETE', `/documents/${id}`, undefined)).status).toBeLessThan(300);
  expect(await waitingJobs()).toBe(0);
});

test('replacing content leaves one job, that of the newest', async () => {
  const id = await user.ingest('first');
  for (let i = 0; i < 10; i += 1) {
    const content = `content ${String(i)}`;
    expect((await user.send('PUT', `/documents/${id}/content`, { content }, soon)).status).toBe(202);
    expect(await waitingJobs()).toBe(1);
  }
  const [job] = await api.jobs.queue('ingestion-quick').getJobs(['prioritized']);
  expect(job?.data).toMatchObject({ documentId: id, version: 11, attempt: 1 });
});

test('a document that was retried a thousand times has hardly more to clean away than one that was not', () => {
  const change = cancel(makeDocument({ attempt: 1_000, status: 'processing' }));
  expect(change?.discard?.length).toBeLessThan(6);
});
