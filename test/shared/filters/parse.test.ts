import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MatchableDocument } from '../../../src/shared/document.js';
import { canFind } from '../../../src/shared/access/access.js';
import { compileFilter, matchesFilter } from '../../../src/shared/filters/match.js';
import { parseFilter, type Filter } from '../../../src/shared/filters/parse.js';
import { filter as anyFilter, metadata as anyMetadata } from '../../support/filter-arbitraries.js';
import { oracle } from '../../support/filter-oracle.js';
import { matchable } from '../../support/matchable.js';

function parse(json: unknown): Filter | null {
  const parsed = parseFilter(json);
  if ('errors' in parsed) throw new Error(JSON.stringify(parsed.errors));
  return parsed.filter;
}

function refusals(json: unknown) {
  const parsed = parseFilter(json);
  return 'errors' in parsed ? parsed.errors : [];
}

function holds(
  json: unknown,
  metadata: MatchableDocument['metadata'],
  changes: Partial<MatchableDocument> = {},
) {
  return canFind({ id: 'alice' }, matchable(metadata, changes), parse(json));
}

/** Tells whether a filter with one operator on `n` holds for the value `n`. */
function holdsFor(value: MatchableDocument['metadata'][string], condition: unknown) {
  return holds({ n: condition }, { n: value });
}

describe('a filter', () => {
  test('agrees with a naive oracle on every document', () => {
    fc.assert(
      fc.property(anyFilter, anyMetadata, (json, metadata) => {
        const parsed = parseFilter(json);
        fc.pre('filter' in parsed);
        const document = matchable(metadata);
        expect(canFind({ id: 'alice' }, document, parsed.filter)).toBe(oracle(document, json));
      }),
      { numRuns: 3000 },
    );
  });

  test('holds the same after a trip through JSON, as workers and records get it', () => {
    fc.assert(
      fc.property(anyFilter, anyMetadata, (json, metadata) => {
        const filter = parse(json);
        fc.pre(filter !== null);
        // @NOTE `any` of JSON.parse: what was a filter is one again, which is the point of the test.
        const copy = JSON.parse(JSON.stringify(filter)) as Filter;
        const document = matchable(metadata);
        expect(compileFilter(copy)(document)).toBe(matchesFilter(document, filter));
      }),
    );
  });

  test.each([null, undefined, {}, { $and: [{}] }])('is none when it is %j', (json) => {
    expect(parse(json)).toBeNull();
  });

  test('that is empty inside another one is true', () => {
    expect(holds({ $and: [{}, { a: 1 }] }, { a: 1 })).toBe(true);
    expect(holds({ $and: [{}, { a: 1 }] }, { a: 2 })).toBe(false);
    expect(holds({ $not: {} }, { a: 1 })).toBe(false);
  });

  test('never opens a document to a caller who may not read it', () => {
    expect(canFind({ id: 'mallory' }, matchable({ a: 1 }), null)).toBe(false);
    expect(
      canFind({ id: 'mallory' }, matchable({ a: 1 }), parse({ $or: [{ a: 1 }, { $not: { a: 1 } }] })),
    ).toBe(false);
    expect(canFind({ id: 'bob' }, matchable({ a: 1 }, { writers: ['bob'] }), null)).toBe(true);
  });
});

describe('equality', () => {
  test('is strict about types', () => {
    expect(holdsFor(1, 1)).toBe(true);
    expect(holdsFor(1, '1')).toBe(false);
    expect(holdsFor(true, 1)).toBe(false);
    expect(holdsFor(1, true)).toBe(false);
    expect(holdsFor('null', null)).toBe(false);
  });

  test('compares numbers as doubles', () => {
    expect(holdsFor(-0, 0)).toBe(true);
    expect(holdsFor(9007199254740992, 9007199254740993)).toBe(true);
    expect(holdsFor(1, 1.0000000001)).toBe(false);
  });

  test('finds null only where null is stored', () => {
    expect(holdsFor(null, null)).toBe(true);
    expect(holds({ n: null }, {})).toBe(false);
    expect(holds({ n: { $ne: null } }, {})).toBe(true);
  });

  test('means some element of a list, and $ne and $nin no element', () => {
    expect(holdsFor([1, 2], 2)).toBe(true);
    expect(holdsFor([1, 2], { $ne: 2 })).toBe(false);
    expect(holdsFor([1, 2], { $nin: [3] })).toBe(true);
    expect(holdsFor([], { $ne: 2 })).toBe(true);
    expect(holdsFor([[2]], 2)).toBe(false);
  });

  test('matches nothing with an empty $in and everything with an empty $nin', () => {
    expect(holdsFor(1, { $in: [] })).toBe(false);
    expect(holds({ n: { $in: [] } }, {})).toBe(false);
    expect(holdsFor(1, { $nin: [] })).toBe(true);
  });
});

describe('order', () => {
  test('is between number and number', () => {
    expect(holdsFor(5, { $gt: 4, $lte: 5 })).toBe(true);
    expect(holdsFor(5, { $gt: 5 })).toBe(false);
    expect(holdsFor('5', { $gt: 4 })).toBe(false);
    expect(holdsFor(true, { $gte: 0 })).toBe(false);
    expect(holds({ n: { $lt: 4 } }, {})).toBe(false);
  });

  test('on a list asks each operator for some element', () => {
    expect(holdsFor([1, 9], { $gt: 5, $lt: 3 })).toBe(true);
    expect(holdsFor([4], { $gt: 5, $lt: 3 })).toBe(false);
  });

  test('of dates is that of the instants', () => {
    expect(holdsFor('2024-01-01T01:00:00+02:00', { $lt: '2024-01-01' })).toBe(true);
    expect(holdsFor('2024-01-01T00:00:00.000002', { $gt: '2024-01-01T00:00:00.000001Z' })).toBe(true);
    expect(holdsFor('2024-01-01', { $gte: '2024-01-01T00:00:00+00:00' })).toBe(true);
    expect(holdsFor('0001-01-01', { $lt: '0099-12-31T23:59Z' })).toBe(true);
    expect(holdsFor(1e15, { $gt: '2024-01-01' })).toBe(false);
    expect(holdsFor('soon', { $gt: '2024-01-01' })).toBe(false);
  });

  test.each([
    'soon',
    '2024',
    '2024-02-30',
    '2023-02-29',
    '2024-13-01',
    '2024-01-01T25:00',
    '2024-01-01T10:00:60Z',
    '2024-01-01Z',
    '2024-01-01T10:00:00.Z',
    '2024-01-01T10:00:00+2',
    '2024-01-01T10',
    '',
    ' 2024-01-01',
    'now ',
    'Now-7d',
    'now-7',
    'now-d',
    'now-7D',
    'now-1234567s',
    'now-7d-7d-7d-7d-7d',
    'now-999999y',
    '2024-01-01||/M',
    true,
    null,
    [1],
    { a: 1 },
  ])('refuses the operand %j', (operand) => {
    const msg = 'value is not a number, an ISO 8601 date or a relative one such as now-7d';
    expect(refusals({ n: { $gt: operand } })).toEqual([
      { loc: ['filters', 'n', '$gt'], msg, type: 'type_error' },
    ]);
  });
});

describe('a key', () => {
  test('with dots reaches into objects', () => {
    expect(holds({ 'a.b': 1 }, { a: { b: 1 } })).toBe(true);
    expect(holds({ 'a.b.c': { $exists: true } }, { a: { b: { c: null } } })).toBe(true);
    expect(holds({ 'a.length': { $exists: true } }, { a: 'text' })).toBe(false);
  });

  test('is taken literally where metadata has it so', () => {
    expect(holds({ 'a.b': 2 }, { 'a.b': 2, a: { b: 1 } })).toBe(true);
    expect(holds({ 'a.b': 1 }, { 'a.b': 2, a: { b: 1 } })).toBe(false);
    expect(holds({ 'a.b.c': 3 }, { a: { 'b.c': 3 } })).toBe(true);
  });

  test('can name the id, file name, content type and time of a document', () => {
    expect(holds({ external_id: '0b7a4c1e-0000-4000-8000-000000000001' }, {})).toBe(true);
    expect(holds({ filename: 'report.pdf', content_type: 'application/pdf' }, {})).toBe(true);
    expect(holds({ created_at: { $gte: '2024-05-01T12:00:00+02:00' } }, {})).toBe(true);
    expect(holds({ created_at: { $gt: '2024-05-01T10:00:00Z' } }, {})).toBe(false);
  });

  test('of the metadata wins over a field of the document, null included', () => {
    expect(holds({ filename: 'mine' }, { filename: 'mine' })).toBe(true);
    expect(holds({ filename: 'report.pdf' }, { filename: 'mine' })).toBe(false);
    expect(holds({ filename: null }, { filename: null })).toBe(true);
  });

  test('names the content that is shown: the pending one while none is published', () => {
    const { published } = matchable({});
    const pending = published && { ...published, filename: 'new.pdf' };
    expect(holds({ filename: 'report.pdf' }, {}, { pending })).toBe(true);
    expect(holds({ filename: 'new.pdf' }, {}, { pending, published: null })).toBe(true);
  });

  test.each(['__proto__', 'constructor', 'toString', '__proto__.toString', 'constructor.name'])(
    'like %s finds only what a client stored',
    (key) => {
      expect(holds(JSON.parse(`{"${key}": {"$exists": true}}`), { a: {} })).toBe(false);
      expect(holds(JSON.parse(`{"${key}": 1}`), Object.fromEntries([[key, 1]]))).toBe(true);
      expect(holds(JSON.parse(`{"${key}": 1}`), {})).toBe(false);
    },
  );
});

describe('a malformed filter', () => {
  test.each([
    ['text', [], 'type_error.dict'],
    [[{ a: 1 }], [], 'type_error.dict'],
    [4, [], 'type_error.dict'],
    [{ a: [1] }, ['a'], 'value_error'],
    [{ a: {} }, ['a'], 'value_error'],
    [{ a: { b: 1 } }, ['a', 'b'], 'value_error'],
    [{ a: { $regex: 'x' } }, ['a', '$regex'], 'value_error'],
    [{ $nor: [{ a: 1 }] }, ['$nor'], 'value_error'],
    [{ $eq: 1 }, ['$eq'], 'value_error'],
    [{ a: { $and: [{ $eq: 1 }] } }, ['a', '$and'], 'value_error'],
    [{ a: { $not: 1 } }, ['a', '$not'], 'type_error.dict'],
    [{ $not: [{ a: 1 }] }, ['$not'], 'type_error.dict'],
    [{ $and: [] }, ['$and'], 'value_error.list.min_items'],
    [{ $or: [] }, ['$or'], 'value_error.list.min_items'],
    [{ $or: { a: 1 } }, ['$or'], 'type_error.list'],
    [{ $and: [null] }, ['$and', 0], 'type_error.dict'],
    [{ a: { $in: 1 } }, ['a', '$in'], 'type_error.list'],
    [{ a: { $nin: [1, [2]] } }, ['a', '$nin', 1], 'type_error'],
    [{ a: { $eq: { b: 1 } } }, ['a', '$eq'], 'type_error'],
    [{ a: { $exists: 1 } }, ['a', '$exists'], 'type_error.bool'],
    [{ a: { $startsWith: 1 } }, ['a', '$startsWith'], 'type_error.str'],
    [{ a: { $startsWith: null } }, ['a', '$startsWith'], 'type_error.str'],
    [{ a: { $startsWith: '' } }, ['a', '$startsWith'], 'value_error.any_str.min_length'],
    [{ a: { $contains: '' } }, ['a', '$contains'], 'value_error.any_str.min_length'],
    [{ a: { $contains: ['x'] } }, ['a', '$contains'], 'type_error'],
    [{ a: { $contains: { x: 1 } } }, ['a', '$contains'], 'type_error'],
    [{ a: { $containsAny: 'x' } }, ['a', '$containsAny'], 'type_error.list'],
    [{ a: { $containsAny: ['x', ''] } }, ['a', '$containsAny', 1], 'value_error.any_str.min_length'],
    [{ a: { $containsAny: [[1]] } }, ['a', '$containsAny', 0], 'type_error'],
    [{ a: { $contains: Infinity } }, ['a', '$contains'], 'value_error.number.not_exact'],
    [{ $contains: 'x' }, ['$contains'], 'value_error'],
    [{ a: Infinity }, ['a'], 'value_error.number.not_exact'],
    [{ a: { $gt: Infinity } }, ['a', '$gt'], 'value_error.number.not_exact'],
    [JSON.parse('{"a": {"__proto__": {"$eq": 1}}}'), ['a', '__proto__'], 'value_error'],
  ])('%j is refused at %j as %s', (json, loc, type) => {
    expect(refusals(json)).toEqual([expect.objectContaining({ loc: ['filters', ...loc], type })]);
  });

  test('has all its mistakes listed', () => {
    const json = { a: [1], b: { $gt: 'x', $foo: 1 }, $or: [{ c: 1 }, { d: [] }] };
    expect(refusals(json).map(({ loc }) => loc.join('/'))).toEqual([
      'filters/a',
      'filters/b/$gt',
      'filters/b/$foo',
      'filters/$or/1/d',
    ]);
  });
});

test('dates in lists are read once a document, however many conditions compare them', () => {
  const milliseconds = (value: (n: number) => string | number) => {
    const filter = parse({ $or: Array.from({ length: 64 }, (_, n) => ({ list: { $lt: value(n) } })) });
    const list = Array.from({ length: 127 }, (_, n) => value(n + 100));
    const documents = Array.from({ length: 40 }, () => matchable({ list }));
    let best = Infinity;
    for (let run = 0; run < 5; run += 1) {
      const before = process.cpuUsage();
      for (const document of documents) expect(filter && matchesFilter(document, filter)).toBe(false);
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, (user + system) / 1_000);
    }
    return best;
  };
  const digits = (n: number) => String(n).padStart(90, '0');
  const [numbers, dates] = [milliseconds((n) => n), milliseconds((n) => `2026-03-01T00:00:00.${digits(n)}`)];
  // Some 60 times as long where each condition reads them anew.
  expect(dates).toBeLessThan(20 * numbers + 5);
});
