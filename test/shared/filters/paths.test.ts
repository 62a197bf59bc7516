import { describe, expect, test } from '@jest/globals';
import { matchesFilter } from '../../../src/shared/filters/match.js';
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
    // What metadata calls an owner is asked for as before.
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
});
