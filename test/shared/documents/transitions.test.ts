import { describe, expect, test } from '@jest/globals';
import { readerTag } from '../../../src/shared/access/access.js';
import { generationId, type DocumentRecord } from '../../../src/shared/document.js';
import { changedFields } from '../../../src/shared/documents/record-fields.js';
import {
  cancel,
  fail,
  giveBack,
  giveTo,
  isCurrent,
  latestAttempts,
  noteExtraction,
  prepare,
  publish,
  reportProgress,
  requeue,
  retry,
  startAttempt,
  withLaterGaps,
} from '../../../src/shared/documents/transitions.js';
import { makeContent, makeDocument, makeOperation } from '../../support/documents.js';

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

const fenceOf = ({ id, version, attempt }: DocumentRecord) => ({ documentId: id, version, attempt });
const running = (changes: Partial<DocumentRecord> = {}) =>
  makeDocument({ status: 'processing', stage: 'parsing', ...changes });
const failure = { code: 'corrupt', message: 'no', stage: 'parsing' } as const;

describe('a document that is given to another user', () => {
  const lists = (ids: string[]) => ({ readers: ids, writers: ids, admins: ids });

  test('has the new owner where the former one was, once, and has its tags written anew', () => {
    const record = makeDocument({
      ownerId: 'ann',
      readers: ['ann', 'bob', 'cat'],
      writers: ['cat', 'ann'],
      admins: ['ann'],
      left: [
        { id: 'cat', lists: [] },
        { id: 'dan', lists: ['readers'] },
      ],
    });
    const { record: given } = giveTo(record, 'cat') ?? {};
    expect(given).toMatchObject({
      ownerId: 'cat',
      readers: ['cat', 'bob'],
      writers: ['cat'],
      admins: ['cat'],
    });
    expect(given?.left).toEqual([{ id: 'dan', lists: ['readers'] }]);
    expect(given?.retag).toBeGreaterThan(0);
    expect(given?.operation?.userId).toBe('ann');
    expect(giveTo(record, 'ann')).toBeNull();
  });

  test('gets nobody a right that its owner did not have, and has the tags of its new owner all the same', () => {
    const record = makeDocument({ ownerId: 'ann', ...lists(['bob']) });
    const { record: given } = giveTo(record, 'bob') ?? {};
    expect(given).toMatchObject(lists(['bob']));
    expect(changedFields(record, given ?? record)).toMatchObject({
      ownerId: '"bob"',
      tags: expect.stringContaining(readerTag('bob')),
    });
    expect(giveTo(record, 'cat')?.record).toMatchObject({ ownerId: 'cat', ...lists(['bob']) });
  });
});

describe('a run', () => {
  test('is stale once its document has ended, has another version or attempt, or is of other content', () => {
    const record = running({ version: 2, attempt: 3 });
    const fence = fenceOf(record);
    expect(isCurrent(record, fence)).toBe(true);
    expect(isCurrent(record, { ...fence, generation: generationId(record) })).toBe(true);
    expect(isCurrent(record, { ...fence, generation: 'other' })).toBe(false);
    expect(isCurrent(record, { ...fence, version: 1 })).toBe(false);
    expect(isCurrent(record, { ...fence, attempt: 2 })).toBe(false);
    expect(isCurrent({ ...record, status: 'cancelled' }, fence)).toBe(false);
  });

  test('that is stale changes nothing, whatever it has to tell', () => {
    const record = running();
    const stale = { ...fenceOf(record), attempt: 9 };
    const extraction = extracted();
    expect(startAttempt(record, stale)).toBeNull();
    expect(noteExtraction(record, { ...stale, gaps: 0, extraction })).toBeNull();
    expect(reportProgress(record, { ...stale, stage: 'embedding', progress: 0.9 })).toBeNull();
    expect(prepare(record, { ...stale, chunkCount: 1 })).toBeNull();
    expect(publish(record, { ...stale, chunkCount: 1, tokenCount: 1 })).toBeNull();
    expect(fail(record, { ...stale, failure })).toBeNull();
  });

  test('begins with nothing done, and with a generation that chunks may be written into', () => {
    const record = running({ stage: 'embedding', progress: 0.9 });
    expect(startAttempt(record, fenceOf(record))).toMatchObject({
      record: { status: 'processing', stage: 'parsing', progress: 0, prepared: null },
      open: generationId(record),
    });
  });

  test('notes how the pending content was read, and nothing once that is gone', () => {
    const record = running();
    const noted = { ...fenceOf(record), gaps: 2, extraction: extracted() };
    expect(noteExtraction(record, noted)?.record?.pending).toEqual({
      ...makeContent(),
      gaps: 2,
      extraction: extracted(),
    });
    expect(noteExtraction({ ...record, pending: null }, noted)).toBeNull();
  });

  test('tells of a later stage at the same progress, and never of an earlier one', () => {
    const record = running({ progress: 0.5 });
    const report = (stage: string, progress: number) =>
      reportProgress(record, { ...fenceOf(record), stage, progress })?.record;
    expect(report('embedding', 0.5)).toMatchObject({ stage: 'embedding', progress: 0.5 });
    expect(report('parsing', 0.5)).toBeUndefined();
    expect(report('embedding', 0.4)).toBeUndefined();
  });

  test('prepares its generation once', () => {
    const record = running();
    const prepared = prepare(record, { ...fenceOf(record), chunkCount: 4 })?.record;
    expect(prepared).toMatchObject({
      stage: 'publishing',
      prepared: { generation: generationId(record), chunkCount: 4 },
    });
    expect(prepared && prepare(prepared, { ...fenceOf(record), chunkCount: 4 })).toBeNull();
  });
});

describe('publication', () => {
  test('makes the pending content the one that is shown, whole and without an error', () => {
    const record = running({
      error: failure,
      prepared: { generation: 'g', chunkCount: 1 },
      pending: makeContent({ gaps: 1, storageKey: 'a/2' }),
      published: makeContent({ generation: 'before', storageKey: 'a/1' }),
    });
    const change = publish(record, { ...fenceOf(record), chunkCount: 2, tokenCount: 30, laterGaps: 2 });
    const generation = generationId(record);
    expect(change?.record).toMatchObject({
      status: 'completed',
      stage: 'completed',
      progress: 1,
      error: null,
      pending: null,
      operation: null,
      prepared: null,
      published: { generation, chunkCount: 2, tokenCount: 30, gaps: 3, storageKey: 'a/2' },
    });
    expect(change?.record?.updatedAt).not.toBe(record.updatedAt);
    expect(change).toMatchObject({ discard: ['before'], discardObjects: ['a/1'] });
    expect(change?.usage).toHaveLength(1);
    expect(change?.usage?.[0]).toMatchObject({ status: 'success' });
  });

  test('counts gaps that came later only where there were some', () => {
    const record = makeDocument();
    expect(withLaterGaps(record, 0)).toBe(record);
    expect(withLaterGaps(record, 2).pending?.gaps).toBe(2);
    expect(withLaterGaps({ ...record, pending: null }, 2).pending).toBeNull();
  });

  test('is none without pending content, and first content replaces nothing', () => {
    const record = running();
    const counts = { chunkCount: 1, tokenCount: 1 };
    expect(
      publish({ ...record, pending: null, published: makeContent() }, { ...fenceOf(record), ...counts }),
    ).toBeNull();
    const change = publish({ ...record, operation: null }, { ...fenceOf(record), ...counts });
    expect(change).toMatchObject({ discard: [], discardObjects: [], usage: [] });
  });
});

describe('an ingest that ends without a publication', () => {
  const record = running({ attempt: 6, version: 2 });
  const attempts = [3, 4, 5, 6].map((attempt) => generationId({ ...record, attempt }));

  test('discards what its latest four attempts wrote', () => {
    expect(latestAttempts(record)).toEqual(attempts);
    expect(latestAttempts({ ...record, attempt: 1 })).toEqual([generationId({ ...record, attempt: 1 })]);
    expect(fail(record, { ...fenceOf(record), failure })).toMatchObject({
      record: { status: 'failed', stage: 'failed', error: failure, operation: null, prepared: null },
      discard: attempts,
    });
    expect(cancel(record)).toMatchObject({
      record: { status: 'cancelled', stage: 'cancelled', operation: null },
      discard: attempts,
    });
  });

  test('is not cancelled once it has ended', () => {
    expect(cancel({ ...record, status: 'failed' })).toBeNull();
  });

  test('has documents of its attachments removed by the right of who cancels, else of who asked for it', () => {
    const carried = { ids: ['a'], waiting: [], missed: [], callerId: 'owner' };
    const carrying = { ...record, pending: makeContent({ carried }) };
    const removed = (by?: string) => cancel(carrying, by)?.record?.replacedAttachments?.removals;
    expect(removed()).toEqual([{ id: 'a', callerId: 'owner' }]);
    expect(removed('ann')).toEqual([{ id: 'a', callerId: 'ann' }]);
  });

  test('is queued again as the next attempt when its job is lost, and not when it has ended', () => {
    const lost = { ...record, prepared: { generation: 'g', chunkCount: 1 } };
    expect(requeue(lost)).toEqual({
      record: { ...lost, status: 'queued', stage: 'queued', attempt: 7, prepared: null },
    });
    expect(requeue({ ...record, status: 'completed' })).toBeNull();
  });

  test('gives back its room while it runs, as the next attempt, even where Redis is full', () => {
    expect(giveBack({ ...record, progress: 0.7 })).toMatchObject({
      record: { status: 'queued', stage: 'queued', attempt: 7, progress: 0 },
      discard: attempts,
      evenWhenFull: true,
    });
    expect(giveBack({ ...record, status: 'queued' })).toBeNull();
    expect(giveBack({ ...record, status: 'completed' })).toBeNull();
  });

  test('is tried again as a new operation only when it failed or was cancelled', () => {
    const operation = makeOperation();
    for (const status of ['failed', 'cancelled'] as const) {
      const again = retry({ ...record, status, error: failure, progress: 0.5 }, operation)?.record;
      expect(again).toMatchObject({
        status: 'queued',
        stage: 'queued',
        progress: 0,
        error: null,
        attempt: 7,
      });
      expect(again?.operation).toEqual(operation);
      expect(again?.updatedAt).not.toBe(record.updatedAt);
    }
    for (const status of ['queued', 'processing', 'completed'] as const)
      expect(retry({ ...record, status }, operation)).toBeNull();
  });
});

const extracted = () => ({
  parser: 'text',
  title: null,
  language: null,
  unit: 'page' as const,
  parts: 1,
  partsRead: 1,
  ocrPages: 0,
});
