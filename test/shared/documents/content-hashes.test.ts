import { expect, test } from '@jest/globals';
import type { DocumentRecord } from '../../../src/shared/document.js';
import {
  contentFields,
  contentMember,
  contentRange,
  documentOfMember,
} from '../../../src/shared/documents/content-hashes.js';
import { makeContent, makeDocument } from '../../support/documents.js';

const record = (changes: Partial<DocumentRecord> = {}) => makeDocument({ id: 'id', ...changes });
const [older, newer] = [makeContent({ sha256: 'older' }), makeContent({ sha256: 'newer' })];

test('a document is found again by its newest content, published or not', () => {
  expect(contentMember(record({ pending: newer, published: older }))).toBe('newer:id');
  expect(contentMember(record({ pending: null, published: older, status: 'completed' }))).toBe('older:id');
  expect(documentOfMember('newer:id:of:colons')).toBe('id:of:colons');
});

test('a document is not found again when its ingest failed or was cancelled, or when its owner may not read it', () => {
  for (const status of ['failed', 'cancelled'] as const)
    expect(contentMember(record({ pending: newer, status }))).toBeNull();
  for (const status of ['queued', 'processing', 'completed'] as const)
    expect(contentMember(record({ pending: newer, status }))).toBe('newer:id');
  const lost = { readers: ['ann'], writers: ['ann'], admins: ['ann'] };
  expect(contentMember(record({ pending: newer, ...lost }))).toBeNull();
  expect(contentMember(record({ pending: null }))).toBeNull();
});

test('all documents of a content, and no others, are between the ends of its range', () => {
  const { from, to } = contentRange('b');
  const members = ['a:9', 'b:', 'b:0', 'b:zzz', 'b;', 'ba:1', 'c:0'];
  const within = (member: string) => `[${member}` >= from && `(${member}` < to;
  expect(members.filter(within)).toEqual(['b:', 'b:0', 'b:zzz']);
});

test('a change names the content by which a document is found no more, and the one by which it is found from then on', () => {
  const before = record({ pending: older });
  const left = { contentLeft: 'older:id', newContent: undefined };
  expect(contentFields(null, { record: before })).toEqual({
    contentLeft: undefined,
    contentEntered: 'older:id',
    newContent: undefined,
  });
  expect(contentFields(before, { record: record({ pending: newer }) })).toEqual({
    ...left,
    contentEntered: 'newer:id',
  });
  expect(contentFields(before, { removed: true })).toEqual({ ...left, contentEntered: undefined });
  expect(contentFields(before, { record: record({ pending: older, metadata: { a: 1 } }) })).toEqual({
    contentLeft: undefined,
    contentEntered: undefined,
    newContent: undefined,
  });
});

test('only a change that asks for it is refused for a content that its owner has', () => {
  const change = { record: record({ pending: newer, published: older }) };
  expect(contentFields(null, { ...change, onlyNewContent: true }).newContent).toBe('newer');
  const completed = { record: record({ pending: null, published: older }), onlyNewContent: true };
  expect(contentFields(null, completed).newContent).toBe('older');
  expect(contentFields(null, { ...change, onlyNewContent: false }).newContent).toBeUndefined();
});
