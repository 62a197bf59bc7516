import { describe, expect, test } from '@jest/globals';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import {
  comeBack,
  finishRetag,
  leave,
  patch,
  remove,
  renewTags,
  replaceContent,
  statisticsOwner,
} from '../../../src/shared/documents/transitions.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';

const running = (changes: Partial<DocumentRecord> = {}) =>
  makeDocument({ status: 'processing', stage: 'parsing', ...changes });
const failure = { code: 'corrupt', message: 'no', stage: 'parsing' } as const;

describe('new content', () => {
  const content = makeContent({ storageKey: 'a/3', filename: 'new.txt' });
  const operation = makeOperation({ userId: 'ann' });

  test('is the next version, queued for its first attempt, beside what is published', () => {
    const record = makeDocument({
      version: 4,
      attempt: 3,
      status: 'failed',
      error: failure,
      progress: 0.5,
      prepared: { generation: 'g', chunkCount: 1 },
      operation: null,
      pending: null,
      published: makeContent({ storageKey: 'a/1' }),
    });
    const change = replaceContent(record, { content, operation });
    expect(change.record).toEqual({
      ...record,
      version: 5,
      attempt: 1,
      status: 'queued',
      stage: 'queued',
      progress: 0,
      error: null,
      prepared: null,
      pending: { ...content, version: 5 },
      operation,
      updatedAt: change.record?.updatedAt,
    });
    expect(change.record?.updatedAt).not.toBe(record.updatedAt);
    expect(change).toMatchObject({ discard: [], discardObjects: [], usage: [] });
  });

  test('discards content that was pending, and what was made of its attachments only while that is under way', () => {
    const carried = { ids: ['a'], waiting: [], missed: [], callerId: 'owner' };
    const record = running({ pending: makeContent({ carried, storageKey: 'a/2' }) });
    const change = replaceContent(record, { content, operation });
    expect(change).toMatchObject({ discard: [generationId(record)], discardObjects: ['a/2'] });
    expect(change.record?.replacedAttachments?.removals).toEqual([{ id: 'a', callerId: 'ann' }]);
    expect(change.usage).toHaveLength(1);
    const failed = replaceContent({ ...record, status: 'failed' }, { content, operation });
    expect(failed.record?.replacedAttachments).toBeUndefined();
  });
});

describe('a change of names, metadata or access', () => {
  const record = makeDocument({
    pending: makeContent({ filename: 'later' }),
    published: makeContent({ filename: 'shown' }),
    revision: 7,
  });

  test('renames what is shown and what is pending, and takes a name away', () => {
    const renamed = patch(record, { filename: 'new' }).record;
    expect(renamed?.published?.filename).toBe('new');
    expect(renamed?.pending?.filename).toBe('new');
    expect(patch(record, { filename: null }).record?.published?.filename).toBeNull();
    expect(patch({ ...record, published: null }, { filename: 'new' }).record?.published).toBeNull();
  });

  test('leaves the name alone where it says nothing of it, and has the tags of the chunks written anew', () => {
    const changed = patch(record, { metadata: { a: 1 } }).record;
    expect(changed?.published).toBe(record.published);
    expect(changed?.metadata).toEqual({ a: 1 });
    expect(changed?.retag).toBeGreaterThan(7);
    expect(changed?.updatedAt).not.toBe(record.updatedAt);
  });

  test('is done once tags of the newest change are written, and not by those of an earlier one', () => {
    const marked = { ...record, retag: 9 };
    expect(finishRetag(marked, 9)).toEqual({ record: { ...marked, retag: 0 } });
    expect(finishRetag(marked, 8)).toBeNull();
  });

  test('that callers do not see has the tags written anew, and nothing else changes', () => {
    const { record: renewed } = renewTags(record);
    expect(renewed?.retag).toBeGreaterThan(7);
    expect({ ...renewed, retag: 0 }).toEqual(record);
  });
});

describe('who leaves a document', () => {
  const record = makeDocument({ readers: ['owner', 'ann'], writers: ['owner', 'ann'], revision: 7 });

  test('is in no list of it, even where Redis is full, and comes back into the same ones', () => {
    const change = leave(record, 'ann');
    expect(change).toMatchObject({ evenWhenFull: true, record: { readers: ['owner'], writers: ['owner'] } });
    expect(change?.record?.retag).toBeGreaterThan(7);
    expect(change?.record?.updatedAt).not.toBe(record.updatedAt);
    const left = change?.record;
    if (!left) throw new Error('nobody has left');
    expect(leave(left, 'ann')).toBeNull();
    expect(comeBack(left, 'ann')?.record?.readers).toContain('ann');
    expect(comeBack(left, 'ann')?.record?.writers).toContain('ann');
    expect(comeBack(record, 'ann')).toBeNull();
  });
});

test('a removal discards each generation and each source once, and counts an ingest that was under way', () => {
  const record = running({
    published: makeContent({ generation: 'before', storageKey: 'a/1' }),
    pending: makeContent({ storageKey: 'a/2' }),
  });
  const change = remove(record);
  expect(change).toMatchObject({
    removed: true,
    discard: [generationId(record), 'before'],
    discardObjects: ['a/2', 'a/1'],
  });
  expect(change.usage).toHaveLength(1);
  const done = makeDocument({ pending: null, operation: null, published: makeContent({ generation: 'g' }) });
  expect(remove({ ...done, published: makeContent({ generation: generationId(done) }) }).discard).toEqual([
    generationId(done),
  ]);
});

test('terms are counted for an owner who may read the document', () => {
  expect(statisticsOwner(makeDocument())).toBe('owner');
  const lost = { readers: ['ann'], writers: ['ann'], admins: ['ann'] };
  expect(statisticsOwner(makeDocument(lost))).toBeNull();
});
