import { expect, test } from '@jest/globals';
import { grows } from '../../../../../src/api/services/ingest/admission/memory-growth.js';
import type { DocumentRecord } from '../../../../../src/shared/document.js';
import { makeDocument } from '../../../../support/documents.js';

const document = makeDocument({
  metadata: { colour: 'red', size: 10 },
  readers: ['ann', 'bob', 'eve'],
  writers: ['ann', 'bob'],
  admins: ['ann'],
});
const named = (filename: string): Partial<DocumentRecord> => ({
  pending: document.pending && { ...document.pending, filename },
});

test.each<[string, Partial<DocumentRecord>]>([
  ['another reader', { readers: ['ann', 'bob', 'eve', 'zoe'] }],
  ['a reader in the place of another', { readers: ['ann', 'bob', 'zoe'] }],
  ['the same readers in another order', { readers: ['eve', 'bob', 'ann'] }],
  ['longer metadata', { metadata: { colour: 'green', size: 10 } }],
  ['other metadata of the same length', { metadata: { colour: 'tan', size: 10 } }],
  ['the same metadata in another order', { metadata: { size: 10, colour: 'red' } }],
  ['a longer name', named('quire.text')],
  ['another name of the same length', named('other.txt')],
])('%s takes room, however often it is exchanged', (_, fields) => {
  const before = { ...document, ...named('quire.txt') };
  expect(grows(before, { ...before, ...fields })).toBe(true);
});

test.each<[string, Partial<DocumentRecord>]>([
  ['nothing', {}],
  ['fewer readers', { readers: ['ann', 'bob'] }],
  ['fewer readers, and the writers in another order', { readers: ['bob', 'ann'], writers: ['bob', 'ann'] }],
  ['less metadata', { metadata: { colour: 'red' } }],
  ['a shorter name', named('quire')],
])('%s takes none', (_, fields) => {
  const before = { ...document, ...named('quire.txt') };
  expect(grows(before, { ...before, ...fields })).toBe(false);
});
