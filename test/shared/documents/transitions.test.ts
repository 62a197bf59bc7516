import { expect, test } from '@jest/globals';
import { generationId } from '../../../src/shared/document.js';
import { publish } from '../../../src/shared/documents/transitions.js';
import { makeContent, makeDocument } from '../../support/documents.js';

test('publication discards what earlier attempts wrote, and the generation that searches answered from', () => {
  const record = makeDocument({
    version: 2,
    attempt: 3,
    status: 'processing',
    stage: 'publishing',
    published: makeContent({ version: 1, generation: 'before' }),
    pending: makeContent({ version: 2, storageKey: 'a/2' }),
  });
  const attempt = (number: number) => generationId({ ...record, attempt: number });
  const change = publish(record, {
    documentId: record.id,
    version: 2,
    attempt: 3,
    chunkCount: 1,
    tokenCount: 1,
  });
  expect(change?.unhide).toBe(attempt(3));
  expect(change?.discard).toEqual([attempt(1), attempt(2), 'before']);
});
