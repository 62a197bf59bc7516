import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchesFilter } from '../../../src/shared/filters/match.js';
import { parseFilter } from '../../../src/shared/filters/parse.js';
import { readerTag } from '../../../src/shared/access/access-tags.js';
import { documentTokens } from '../../../src/shared/filters/index-tokens.js';
import {
  metadata as anyMetadata,
  path as anyPath,
  scalar as anyScalar,
} from '../../support/filter-arbitraries.js';
import { matchable } from '../../support/matchable.js';

/** The scheme as it is written down; indexes of old data depend on it. */
function token(operator: string, path: string, type: string, value: unknown): string {
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

describe('the tokens of a document', () => {
  test('hold an equality’s token exactly when the document matches it', () => {
    fc.assert(
      fc.property(anyMetadata, anyPath, anyScalar, (metadata, path, value) => {
        const document = matchable(metadata);
        const wanted = token('=', path, typeName(value), value);
        expect(documentTokens(document).includes(wanted)).toBe(
          matchesJson(document, { [path]: { $eq: value } }),
        );
      }),
      { numRuns: 2000 },
    );
  });

  test('hold an existence’s token exactly when the document has the path', () => {
    fc.assert(
      fc.property(anyMetadata, anyPath, (metadata, path) => {
        const document = matchable(metadata);
        const wanted = token('?', path, '', '');
        expect(documentTokens(document).includes(wanted)).toBe(
          matchesJson(document, { [path]: { $exists: true } }),
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('are distinct and 24 hex digits', () => {
    fc.assert(
      fc.property(anyMetadata, (metadata) => {
        const tokens = documentTokens(matchable(metadata));
        expect(new Set(tokens).size).toBe(tokens.length);
        for (const each of tokens) expect(each).toMatch(/^[0-9a-f]{24}$/);
      }),
    );
  });

  test('name ranges by one to five digits of a number', () => {
    const tokens = documentTokens(matchable({ n: [3.25, 1e300] }));
    for (const value of [3.25, 1e300]) {
      for (const length of [1, 2, 3, 4, 5]) {
        expect(tokens).toContain(token('~', 'n', 'number', positivePrefix(value).slice(0, length)));
      }
    }
    expect(tokens).not.toContain(token('~', 'n', 'instant', positivePrefix(3.25)));
  });

  test('order negative numbers before positive ones, the greater the later', () => {
    const tokens = documentTokens(matchable({ n: [-1, -2] }));
    // -1 is bff00000…, -2 is c0000000…: all bits are inverted.
    expect(tokens).toContain(token('~', 'n', 'number', '400ff'));
    expect(tokens).toContain(token('~', 'n', 'number', '3ffff'));
  });

  test('give 0 and -0 the same names', () => {
    expect(documentTokens(matchable({ n: -0 }))).toEqual(documentTokens(matchable({ n: 0 })));
  });

  test('name ranges of dates by their instants, apart from those of numbers', () => {
    const tokens = documentTokens(matchable({ at: '2024-01-01T01:00:00+01:00', text: 'soon' }));
    const prefix = positivePrefix(Date.UTC(2024, 0, 1));
    expect(tokens).toContain(token('~', 'at', 'instant', prefix));
    expect(tokens).not.toContain(token('~', 'at', 'number', prefix));
    expect(tokens).toContain(token('~', 'created_at', 'instant', positivePrefix(Date.UTC(2024, 4, 1, 10))));
  });

  test('do not hold what a literal key hides, so that a negation loses nothing', () => {
    const document = matchable({ 'a.b': 2, a: { b: 1 } });
    expect(documentTokens(document)).not.toContain(token('=', 'a.b', 'number', 1));
    expect(matchesJson(document, { 'a.b': { $ne: 1 } })).toBe(true);
  });
});

describe('the token of a user', () => {
  test('differs by user and is no token of any metadata', () => {
    expect(readerTag('alice')).toMatch(/^[0-9a-f]{24}$/);
    expect(readerTag('alice')).not.toBe(readerTag('Alice'));
    expect(documentTokens(matchable({ '': 'alice', user: 'alice' }))).not.toContain(readerTag('alice'));
  });
});
