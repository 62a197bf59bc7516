import { expect, test } from '@jest/globals';
import { createIngestJob } from '../../../src/workers/ingestion/ingest-job.js';
import { makeDocument } from '../../support/documents.js';

test('a run of content that was replaced while it waited for room takes no room from what came after it', async () => {
  const record = { ...makeDocument(), version: 2 };
  const refuse = () => Promise.reject(new Error('room was asked for'));
  const parts = {
    records: { read: () => Promise.resolve(record), update: refuse },
    room: { reserveAgain: refuse, reserve: refuse, spend: refuse },
    attachments: null,
  };
  // @NOTE what a run that is over needs is all that is here
  const run = createIngestJob(parts as unknown as Parameters<typeof createIngestJob>[0]);
  const options = { requestId: 'test', signal: new AbortController().signal };
  expect(await run({ documentId: record.id, version: 1, attempt: 1 }, options)).toBe('stale');
});
