import { describe, expect, test } from '@jest/globals';
import type { Extraction } from '../../../src/shared/document.js';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import {
  createPathReader,
  documentFieldNames,
  isOwnField,
  unhiddenFieldNames,
} from '../../../src/shared/filters/paths.js';
import { parseFilter } from '../../../src/shared/filters/parse.js';
import { matchable } from '../../support/matchable.js';

type Metadata = Parameters<typeof matchable>[0];

function holds(json: unknown, metadata: Metadata, changes: Parameters<typeof matchable>[1] = {}): boolean {
  const parsed = parseFilter(json);
  if ('errors' in parsed || parsed.filter === null) throw new Error('no filter');
  return matchesFilter(matchable(metadata, changes), parsed.filter);
}

describe('a key of a filter', () => {
  test('with dots reaches into objects of lists, of which some one must fit', () => {
    const order = { items: [{ sku: 'A1', price: 5 }, { sku: 'B2', tags: ['new', 'red'] }, 'loose'] };
    expect(holds({ 'items.sku': 'B2' }, order)).toBe(true);
    expect(holds({ 'items.sku': 'C3' }, order)).toBe(false);
    expect(holds({ 'items.sku': { $in: ['C3', 'A1'] } }, order)).toBe(true);
    expect(holds({ 'items.price': { $gt: 4 } }, order)).toBe(true);
    expect(holds({ 'items.price': { $gt: 5 } }, order)).toBe(false);
    expect(holds({ 'items.tags': 'red' }, order)).toBe(true);
    expect(holds({ 'items.tags': { $exists: true } }, order)).toBe(true);
    expect(holds({ 'items.size': { $exists: true } }, order)).toBe(false);
  });

  test('with dots fits a negation only where no object of a list has the value', () => {
    const order = { items: [{ sku: 'A1' }, { sku: 'B2' }] };
    expect(holds({ 'items.sku': { $ne: 'B2' } }, order)).toBe(false);
    expect(holds({ 'items.sku': { $nin: ['B2', 'C3'] } }, order)).toBe(false);
    expect(holds({ 'items.sku': { $ne: 'C3' } }, order)).toBe(true);
    expect(holds({ 'items.size': { $ne: 1 } }, order)).toBe(true);
  });

  test('with dots reaches through lists in lists, and places in a list are no keys', () => {
    const orders = { orders: [{ lines: [{ sku: 'A1' }] }, { lines: [[{ sku: 'B2' }]] }] };
    expect(holds({ 'orders.lines.sku': 'A1' }, orders)).toBe(true);
    expect(holds({ 'orders.lines.sku': 'B2' }, orders)).toBe(true);
    expect(holds({ 'orders.0.lines.sku': 'A1' }, orders)).toBe(false);
    expect(holds({ 'orders.lines': { $exists: true } }, orders)).toBe(true);
  });

  test('for the owner reads who owns the document, whatever metadata says of that', () => {
    const lies = [
      { 'system_metadata.owner': 'victim' },
      { system_metadata: { owner: 'victim' } },
      { system_metadata: [{ owner: ['victim'] }] },
    ];
    for (const metadata of lies) {
      const owned = { ownerId: 'mallory', id: '0b7a4c1e-0000-4000-8000-000000000009' };
      expect(holds({ 'system_metadata.owner': 'victim' }, metadata, owned)).toBe(false);
      expect(holds({ 'system_metadata.owner': 'mallory' }, metadata, owned)).toBe(true);
      expect(holds({ 'system_metadata.owner': { $nin: ['mallory', 'bob'] } }, metadata, owned)).toBe(false);
      expect(holds({ 'system_metadata.owner': { $exists: true } }, metadata, owned)).toBe(true);
    }
    // A metadata key with the name of an owner is asked for as before.
    expect(holds({ owner: 'victim' }, { owner: 'victim' }, { ownerId: 'mallory' })).toBe(true);
    expect(holds({ owner: { $exists: false } }, {}, { ownerId: 'mallory' })).toBe(true);
  });

  test('for the file name compares what is the same in Unicode’s normal form C', () => {
    const [composed, decomposed] = ['Zürich.txt'.normalize('NFC'), 'Zürich.txt'.normalize('NFD')];
    const named = (filename: string) => {
      const { published } = matchable({});
      return { published: published && { ...published, filename } };
    };
    for (const stored of [composed, decomposed]) {
      for (const asked of [composed, decomposed]) {
        expect(holds({ filename: asked }, {}, named(stored))).toBe(true);
        expect(holds({ filename: { $in: ['x', asked] } }, {}, named(stored))).toBe(true);
        expect(holds({ filename: { $nin: [asked] } }, {}, named(stored))).toBe(false);
        expect(holds({ filename: asked }, { filename: ['x', stored] })).toBe(true);
        expect(holds({ title: asked }, { title: stored })).toBe(asked === stored);
      }
    }
  });

  test.each([
    ['external_id', '0b7a4c1e-0000-4000-8000-000000000001'],
    ['filename', 'report.pdf'],
    ['content_type', 'application/pdf'],
    ['created_at', '2024-05-01T10:00:00.000Z'],
    ['system_metadata.gaps', 3],
    ['system_metadata.extraction.language', 'de'],
    ['system_metadata.programming_language', 'rust'],
    ['system_metadata.mail.from', 'ann@example.org'],
    ['system_metadata.mail.to', 'bob@example.org'],
    ['system_metadata.mail.cc', 'eve@example.org'],
    ['system_metadata.mail.date', '2024-01-02T03:04:05.000Z'],
    ['system_metadata.mail.subject', 'Harbour'],
    ['system_metadata.mail.message_id', '1@example.org'],
    ['$id', '0b7a4c1e-0000-4000-8000-000000000001'],
    ['system_metadata.owner', 'alice'],
  ])('for %s reads what the document itself says, where its metadata says nothing of it', (key, value) => {
    const message = {
      from: ['ann@example.org'],
      to: ['bob@example.org'],
      cc: ['eve@example.org'],
      date: '2024-01-02T03:04:05.000Z',
      subject: 'Harbour',
      message_id: '1@example.org',
    };
    const read = createPathReader(key);
    const found = read(matchable({}, extracted({ language: 'de', mail: message })));
    expect(Array.isArray(found) ? found : [found]).toEqual([value]);
  });

  test('of a file that was read without saying so, or of a text, finds none of it', () => {
    const says = [
      'extraction.language',
      'mail.date',
      'mail.subject',
      'mail.message_id',
      'mail.from',
      'mail.to',
      'mail.cc',
    ];
    const silent = { from: [], to: [], cc: [], date: null, subject: null, message_id: null };
    for (const name of says) {
      const read = createPathReader(`system_metadata.${name}`);
      expect(read(matchable({}))).toBeUndefined();
      expect(read(matchable({}, extracted({ language: null })))).toBeUndefined();
      const found = read(matchable({}, extracted({ language: null, mail: silent })));
      expect(found ?? []).toEqual([]);
    }
    expect(createPathReader('system_metadata.programming_language')(matchable({}))).toBeUndefined();
  });

  test('may begin or end with a dot, which stands beside an empty name, and leads through nothing but objects', () => {
    const read = (key: string, metadata: Metadata) => createPathReader(key)(matchable(metadata));
    expect(read('.a', { '': { a: 1 } })).toBe(1);
    expect(read('a.', { a: { '': 2 } })).toBe(2);
    expect(read('a.b.c', { a: { b: 'text' } })).toBeUndefined();
    expect(read('a.length', { a: [null, 'text', 7] })).toBeUndefined();
    expect(read('filename', { filename: [1, 'x', null] })).toEqual([1, 'x', null]);
    expect(read('missing.a', {})).toBeUndefined();
  });

  test('is told to whoever makes tags of documents, for each that documents have beside metadata', () => {
    expect(unhiddenFieldNames).toEqual(['system_metadata.owner', '$id', '$collections']);
    expect(documentFieldNames).toHaveLength(13);
  });

  test('reaches 64 levels deep into metadata and no deeper', () => {
    const nest = (levels: number): Metadata[string] => (levels === 0 ? 'found' : { k: nest(levels - 1) });
    const path = (levels: number) => Array.from({ length: levels }, () => 'k').join('.');
    for (const levels of [1, 63, 64])
      expect(createPathReader(path(levels))(matchable({ k: nest(levels - 1) }))).toBe('found');
    expect(createPathReader(path(65))(matchable({ k: nest(64) }))).toBeUndefined();
  });

  test('that metadata hides is read from there, but for who owns a document and what its id is', () => {
    const lies = { external_id: 'x', filename: 'x', $id: 'x', 'system_metadata.owner': 'x' };
    const read = (key: string) => createPathReader(key)(matchable(lies));
    expect([read('external_id'), read('filename')]).toEqual(['x', 'x']);
    expect([read('$id'), read('system_metadata.owner')]).toEqual([matchable({}).id, 'alice']);
    expect([isOwnField('$id'), isOwnField('system_metadata.owner'), isOwnField('external_id')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

function extracted(of: Pick<Extraction, 'language' | 'mail'>): Parameters<typeof matchable>[1] {
  const { published } = matchable({});
  const read = { title: null, unit: 'file', parts: 1, partsRead: 1, ocrPages: 0 } as const;
  const extraction = { parser: 'code:rust', ...read, ...of };
  return { published: published && { ...published, gaps: 3, extraction } };
}
