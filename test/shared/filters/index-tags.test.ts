import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import { parseFilter } from '../../../src/shared/filters/parse.js';
import { readerTag } from '../../../src/shared/access/access.js';
import { filterTags } from '../../../src/shared/filters/index-tags.js';
import { isOwnField } from '../../../src/shared/filters/paths.js';
import {
  metadata as anyMetadata,
  path as anyPath,
  scalar as anyScalar,
} from '../../support/filter-arbitraries.js';
import { matchable } from '../../support/matchable.js';

/** The scheme as it is written down; indexes of old data depend on it. */
function tag(operator: string, path: string, type: string, value: unknown): string {
  const text = JSON.stringify([operator, path, type, value]);
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function matchesJson(document: ReturnType<typeof matchable>, json: unknown): boolean {
  const parsed = parseFilter(json);
  if ('errors' in parsed || parsed.filter === null) throw new Error('no filter');
  return matchesFilter(document, parsed.filter);
}

/** The first five digits of the bits of a positive double, whose sign bit is set to come after the negative ones. */
function positivePrefix(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  bytes[0] = (bytes[0] ?? 0) | 0x80;
  return bytes.toString('hex').slice(0, 5);
}

describe('the tags of a document', () => {
  test('hold an equality’s tag exactly when the document matches it', () => {
    fc.assert(
      fc.property(anyMetadata, anyPath, anyScalar, (metadata, path, value) => {
        const document = matchable(metadata);
        const compared = path === 'filename' && typeof value === 'string' ? value.normalize('NFC') : value;
        const wanted = tag('=', path, typeName(value), compared);
        expect(filterTags(document).includes(wanted)).toBe(matchesJson(document, { [path]: { $eq: value } }));
      }),
      { numRuns: 2000 },
    );
  });

  test('hold an existence’s tag exactly when the document has the path, and none for what all have', () => {
    fc.assert(
      fc.property(anyMetadata, anyPath, (metadata, path) => {
        const document = matchable(metadata);
        const wanted = tag('?', path, '', '');
        const isTold = !isOwnField(path) && matchesJson(document, { [path]: { $exists: true } });
        expect(filterTags(document).includes(wanted)).toBe(isTold);
      }),
      { numRuns: 1000 },
    );
  });

  test('are those of their own path and value, however alike others are written', () => {
    const pairs = [
      ['a', '1:b'],
      ['a1', ':b'],
      ['a1:', 'b'],
      ['a', 'b'],
      ['a:b', ''],
      ['', 'a:b'],
      ['1', 'null'],
      ['1', null],
      ['1', 1],
      ['1', '1'],
      ['1', true],
      ['1', 'true'],
    ] as const;
    for (const [key, value] of [...pairs, ...pairs]) {
      const wanted = tag('=', key, typeName(value), value);
      expect(filterTags(matchable({ [key]: value }))).toContain(wanted);
    }
  });

  test('are distinct and 24 hex digits', () => {
    fc.assert(
      fc.property(anyMetadata, (metadata) => {
        const tags = filterTags(matchable(metadata));
        expect(new Set(tags).size).toBe(tags.length);
        for (const each of tags) expect(each).toMatch(/^[0-9a-f]{24}$/);
      }),
    );
  });

  test('name ranges by one to five digits of a number', () => {
    const tags = filterTags(matchable({ n: [3.25, 1e300] }));
    for (const value of [3.25, 1e300]) {
      for (const length of [1, 2, 3, 4, 5]) {
        expect(tags).toContain(tag('~', 'n', 'number', positivePrefix(value).slice(0, length)));
      }
    }
    expect(tags).not.toContain(tag('~', 'n', 'instant', positivePrefix(3.25)));
  });

  test('order negative numbers before positive ones, the greater the later', () => {
    const tags = filterTags(matchable({ n: [-1, -2] }));
    // -1 is bff00000…, -2 is c0000000…: all bits are inverted.
    expect(tags).toContain(tag('~', 'n', 'number', '400ff'));
    expect(tags).toContain(tag('~', 'n', 'number', '3ffff'));
  });

  test('give 0 and -0 the same names', () => {
    expect(filterTags(matchable({ n: -0 }))).toEqual(filterTags(matchable({ n: 0 })));
  });

  test('name ranges of dates by their instants, apart from those of numbers', () => {
    const tags = filterTags(matchable({ at: '2024-01-01T01:00:00+01:00', text: 'soon' }));
    const prefix = positivePrefix(Date.UTC(2024, 0, 1));
    expect(tags).toContain(tag('~', 'at', 'instant', prefix));
    expect(tags).not.toContain(tag('~', 'at', 'number', prefix));
    expect(tags).toContain(tag('~', 'created_at', 'instant', positivePrefix(Date.UTC(2024, 4, 1, 10))));
  });

  test('do not hold what a literal key hides, so that a negation loses nothing', () => {
    const document = matchable({ 'a.b': 2, a: { b: 1 } });
    expect(filterTags(document)).not.toContain(tag('=', 'a.b', 'number', 1));
    expect(matchesJson(document, { 'a.b': { $ne: 1 } })).toBe(true);
  });
});

describe('the tag of a user', () => {
  test('differs by user and is no tag of any metadata', () => {
    expect(readerTag('alice')).toMatch(/^[0-9a-f]{24}$/);
    expect(readerTag('alice')).not.toBe(readerTag('Alice'));
    expect(filterTags(matchable({ '': 'alice', user: 'alice' }))).not.toContain(readerTag('alice'));
  });
});
