import { expect, test } from '@jest/globals';
import { createCommitChange } from '../../../../src/api/services/documents/commit-change.js';
import { readDocument } from '../../../../src/api/services/documents/document-access.js';
import { createRecords } from '../../../../src/shared/documents/records.js';
import { makeDocument } from '../../../support/documents.js';
import { useTestRedis } from '../../../support/use-test-redis.js';

const { redis } = useTestRedis({ failFast: false });

test('whoever reads or changes many documents at once has their turns one after the other, beside those of others', async () => {
  const records = createRecords(redis);
  const document = makeDocument({ ownerId: 'many', readers: ['many'], writers: ['many'] });
  await records.create(document);
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held = Array.from({ length: 100 }, () => records.inTurn('many', () => ended));
  const none = () => Promise.resolve();
  const jobs = {
    ingest: none,
    ingestAll: none,
    forgetIngest: none,
    attachments: none,
    retag: none,
    clean: none,
  };
  const change = createCommitChange(records, jobs);
  const request = { documentId: document.id, principal: { id: 'many' } };
  let done = 0;
  const count = () => {
    done += 1;
  };
  const asked = [
    readDocument(records, request, 'read').then(count),
    change({ ...request, right: 'write' }, () => null).then(count),
  ];
  // Another command of the same connection has come back: without turns, the others had, too.
  for (let times = 0; times < 5; times += 1) await redis.ping();
  expect(done).toBe(0);
  end();
  await Promise.all([...held, ...asked]);
  expect(done).toBe(2);
});
