import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createIgnoredFields, findUnknown, nearestName } from '../../../src/api/http/unknown-fields.js';
import { optionalNull, optionalNullOr, list } from '../../../src/api/http/validation/field-schemas.js';
import { rerankWish } from '../../../src/api/http/validation/search-fields.js';

const schema = z.object({
  query: z.string(),
  k: optionalNullOr(z.int(), 4),
  filters: z.unknown().optional(),
  access_control: optionalNull(z.object({ readers: optionalNull(list(z.string())) })),
  items: z.array(z.object({ name: z.string() })).optional(),
  rerank: rerankWish,
});
const prefer = { waitSeconds: null, respondAsync: false, handling: null };
const unknownIn = (value: unknown) => [...findUnknown(schema, value)].map(({ loc }) => loc.join('.'));

describe('the fields that a schema does not know', () => {
  test('are found at every depth that it describes, and nowhere else', () => {
    const value = {
      query: 'x',
      filter: {},
      filters: { anything: { goes: 1 } },
      access_control: { reader: ['bob'], readers: [] },
      items: [{ name: 'a' }, { name: 'b', nmae: 1 }],
      rerank: { topn: 1 },
    };
    expect(unknownIn(value)).toEqual(['filter', 'access_control.reader', 'items.1.nmae', 'rerank.topn']);
    expect(unknownIn({ query: 'x', access_control: null, items: 3, rerank: true })).toEqual([]);
    expect(unknownIn('text')).toEqual([]);
    expect(unknownIn(JSON.parse('{"__proto__":1,"constructor":2}'))).toEqual(['__proto__', 'constructor']);
  });
});

describe('the name that was meant', () => {
  const names = [
    'query',
    'filters',
    'k',
    'min_score',
    'ranking',
    'rerank',
    'max_tokens',
    'temperature',
    'stream',
  ];
  test.each([
    ['filter', 'filters'],
    ['Filters', 'filters'],
    ['fitlers', 'filters'],
    ['minScore', 'min_score'],
    ['min-score', 'min_score'],
    ['maxtokens', 'max_tokens'],
    ['temprature', 'temperature'],
    ['reranking', 'ranking'],
    ['zzz', null],
    ['x'.repeat(100_000), null],
    ['', null],
  ])('instead of %s is %s', (name, near) => {
    expect(nearestName(name, names)).toBe(near);
  });
});

describe('the header that names ignored fields', () => {
  const headerOf = (value: Record<string, unknown>) => {
    const ignored = createIgnoredFields(prefer, 'ignore');
    expect(ignored.check(schema, value, 'body')).toEqual([]);
    return ignored.addTo({})['Quire-Ignored'];
  };

  test('is absent where nothing is ignored', () => {
    expect(headerOf({ query: 'x' })).toBeUndefined();
  });

  test('holds safe characters only, and a bounded number of them', () => {
    expect(headerOf({ 'a b,c"\r\nSet-Cookie: é\ud800': 1, '$x-1.y': 2 })).toBe(
      'a%20b%2Cc%22%0D%0ASet-Cookie%3A%20%C3%A9%EF%BF%BD, $x-1.y',
    );
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`${String(i)}${'é'.repeat(500)}`, 1]),
    );
    const header = headerOf(many) ?? '';
    expect(header.length).toBeLessThan(2_000);
    expect(header).toMatch(/, \.\.\.$/);
    expect(header).toMatch(/^[\x21-\x7e ]+$/);
  });
});

describe('strict handling', () => {
  test('refuses each field with the nearest name, at most a hundred of them', () => {
    const strict = createIgnoredFields({ ...prefer, handling: 'strict' }, 'ignore');
    expect(strict.check(schema, { query: 'x', filter: {}, access_control: { reader: [] } }, 'body')).toEqual([
      {
        loc: ['body', 'filter'],
        msg: "extra fields not permitted; did you mean 'filters'?",
        type: 'value_error.extra',
      },
      {
        loc: ['body', 'access_control', 'reader'],
        msg: "extra fields not permitted; did you mean 'readers'?",
        type: 'value_error.extra',
      },
    ]);
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`f${String(i)}`, 1]));
    expect(strict.check(schema, many, 'query')).toHaveLength(100);
    expect(strict.addTo({ 'Preference-Applied': 'wait=3' })).toEqual({
      'Preference-Applied': 'wait=3, handling=strict',
    });
  });

  test('can be the default, which a request may lift', () => {
    const refused = (handling: 'strict' | 'lenient' | null, byDefault: 'ignore' | 'refuse') =>
      createIgnoredFields({ ...prefer, handling }, byDefault).check(schema, { query: 'x', filter: 1 }, 'body')
        .length;
    expect([refused(null, 'ignore'), refused(null, 'refuse'), refused('lenient', 'refuse')]).toEqual([
      0, 1, 0,
    ]);
  });

  test('lets what existing clients send pass, and names it', () => {
    const strict = createIgnoredFields({ ...prefer, handling: 'strict' }, 'ignore');
    expect(strict.check(schema, { query: 'x', use_reranking: true, rules: [] }, 'body')).toEqual([]);
    expect(strict.addTo({})['Quire-Ignored']).toBe('use_reranking, rules');
    expect(strict.check(schema, { query: 'x', access_control: { rules: 1 } }, 'body')).toHaveLength(1);
  });
});

describe('the nearest name', () => {
  test.each([
    ['ikd', ['kind'], null],
    // Two neighbours that are swapped are one slip, not two.
    ['kni', ['kin'], 'kin'],
    ['colour', ['filters', 'metadata'], null],
    ['total', ['limit', 'cursor'], null],
  ])('to %j among %j is %j', (name, names, near) => {
    expect(nearestName(name, names)).toBe(near);
  });
});
