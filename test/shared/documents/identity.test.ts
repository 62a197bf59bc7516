import { describe, expect, test } from '@jest/globals';
import { entityTag, fulfils, displayFilename, type DocumentRecord } from '../../../src/shared/document.js';
import { newDocument } from '../../../src/shared/documents/transitions.js';
import { makeContent, makeDocument } from '../../support/documents.js';

describe('the entity tag of a document', () => {
  const record = makeDocument({ version: 3, metadata: { a: 1 } });

  test('begins with the version and changes with everything that callers can change', () => {
    expect(entityTag(record)).toMatch(/^3-[0-9a-f]{16}$/);
    const changes: Partial<DocumentRecord>[] = [
      { version: 4 },
      { metadata: { a: 2 } },
      { pending: makeContent({ filename: 'other' }) },
      { readers: [] },
      { writers: [] },
      { admins: [] },
    ];
    const tags = [record, ...changes.map((change) => ({ ...record, ...change }))].map(entityTag);
    expect(new Set(tags).size).toBe(tags.length);
  });

  test('stays the same while an ingest goes on', () => {
    const further = {
      ...record,
      status: 'processing',
      progress: 0.5,
      attempt: 2,
      updatedAt: 'later',
    } as const;
    expect(entityTag(further)).toBe(entityTag(record));
  });

  test('is a condition of a change, as is the version alone, and any state of a document may be', () => {
    const tags = (...named: string[]) => fulfils(record, { type: 'tags', tags: named });
    expect(fulfils(record, { type: 'any' })).toBe(true);
    expect(tags('2', entityTag(record))).toBe(true);
    expect(tags('2', '3')).toBe(true);
    expect(tags('2', entityTag({ ...record, version: 2 }))).toBe(false);
    expect(tags()).toBe(false);
  });
});

describe('the name of a file as it is shown', () => {
  test.each([
    ['/home/ann/report.pdf', 'report.pdf'],
    ['C:\\Users\\ann\\report.pdf', 'report.pdf'],
    ['line\nbreak/re\u0000po\u202ert.pdf ', 'report.pdf'],
    ['  a b  ', 'a b'],
    ['.hidden', '.hidden'],
  ])('of %j is %j', (name, shown) => {
    expect(displayFilename(name)).toBe(shown);
  });

  test.each([null, undefined, '', ' ', '.', '..', 'folder/', 'a/..', '\u200f'])('is none of %j', (name) => {
    expect(displayFilename(name)).toBeNull();
  });

  test('has 255 characters at most, its extension among them unless that is a long text itself', () => {
    expect(displayFilename('x'.repeat(255))).toBe('x'.repeat(255));
    expect(displayFilename(`${'x'.repeat(300)}.tar.gz`)).toBe(`${'x'.repeat(252)}.gz`);
    expect(displayFilename(`${'\u{1f600}'.repeat(300)}.pdf`)).toBe(`${'\u{1f600}'.repeat(251)}.pdf`);
    expect(displayFilename(`x.${'y'.repeat(300)}`)).toBe(`x.${'y'.repeat(253)}`);
  });
});

describe('a new document', () => {
  const made = (accessControl: Parameters<typeof newDocument>[1]['accessControl'], filename: string | null) =>
    newDocument(makeContent({ kind: filename === null ? 'text' : 'file', filename, createdAt: 'then' }), {
      documentId: 'id',
      ownerId: 'ann',
      callerId: 'bob',
      metadata: { a: 1 },
      accessControl,
      startedAtMs: 5,
    });

  test('waits for the first run at its first version, and all its times are that of its content', () => {
    expect(made({}, null)).toMatchObject({
      id: 'id',
      ownerId: 'ann',
      createdAt: 'then',
      updatedAt: 'then',
      metadata: { a: 1 },
      version: 1,
      attempt: 1,
      status: 'queued',
      stage: 'queued',
      progress: 0,
      error: null,
      published: null,
      pending: { createdAt: 'then' },
      prepared: null,
      retag: 0,
      revision: 1,
    });
  });

  test('has its owner in each list, once, whatever lists are asked for', () => {
    expect(made({}, null)).toMatchObject({ readers: ['ann'], writers: ['ann'], admins: ['ann'] });
    expect(made({ readers: ['cid', 'ann'], writers: ['dan'] }, null)).toMatchObject({
      readers: ['ann', 'cid'],
      writers: ['ann', 'dan'],
      admins: ['ann'],
    });
  });

  test('is counted as an ingest of who asked for it, with the name of its file', () => {
    expect(made({}, null).operation).toMatchObject({
      type: 'ingest_text',
      userId: 'bob',
      startedAtMs: 5,
      metadata: { document_id: 'id' },
    });
    expect(made({}, null).operation?.metadata).not.toHaveProperty('filename');
    expect(made({}, 'a.pdf').operation).toMatchObject({
      type: 'ingest_file',
      metadata: { document_id: 'id', filename: 'a.pdf' },
    });
    expect(made({}, null).operation?.id).not.toBe(made({}, null).operation?.id);
  });
});
