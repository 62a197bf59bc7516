import { describe, expect, test } from '@jest/globals';
import {
  metadata,
  accessControl,
  accessControlChange,
} from '../../src/api/http/validation/document-fields.js';
import { parseRequest } from '../../src/api/http/validation/validation-errors.js';
import { refusals } from '../support/refusals.js';

describe('metadata', () => {
  const nest = (levels: number): unknown => (levels === 0 ? 1 : { a: nest(levels - 1) });
  const leaves = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${String(index)}`, index]));
  const bytes = (count: number) => ({ a: 'é'.repeat((count - 8) / 2) });

  test.each([
    [{}],
    [leaves(128)],
    [{ a: Array.from({ length: 128 }, () => 1) }],
    [bytes(16_384)],
    [nest(64)],
  ])('%# within the limits passes untouched', (value) => {
    expect(parseRequest(metadata, value, 'body')).toBe(value);
  });

  test.each([
    [leaves(129), 128],
    [{ a: Array.from({ length: 129 }, () => ({})) }, 128],
    [{ a: [Array.from({ length: 100 }, () => 1), Array.from({ length: 29 }, () => [])] }, 128],
    [bytes(16_386), 16_384],
    [nest(65), 64],
    [nest(5000), 64],
    [Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [String(index), 1])), 128],
  ])('%# over a limit is told which', (value, limit) => {
    expect(refusals(metadata, value)).toMatchObject([
      { loc: ['body'], type: 'value_error', ctx: { limit_value: limit } },
    ]);
  });

  test('with numbers that a double does not hold is refused, and each of them is named', () => {
    expect(refusals(metadata, JSON.parse('{"a": [1, 1e999], "b": {"c": -1e999}}'))).toMatchObject([
      { loc: ['body', 'a', 1], type: 'value_error.number.not_exact' },
      { loc: ['body', 'b', 'c'], type: 'value_error.number.not_exact' },
    ]);
  });
});

describe('access lists', () => {
  test('may each be absent or null', () => {
    expect(parseRequest(accessControl, { readers: ['bob'], writers: null }, 'body')).toEqual({
      readers: ['bob'],
    });
  });

  test('hold at most 1,000 ids of 1 to 256 characters', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, index) => `user-${String(index)}`);
    expect(refusals(accessControl, { readers: ids(1000), writers: ['x'.repeat(256)] })).toEqual([]);
    expect(
      refusals(accessControl, { readers: ids(1001), writers: ['x'.repeat(257), ''], admins: 'bob' }),
    ).toMatchObject([
      { loc: ['body', 'readers'], type: 'value_error.list.max_items', ctx: { limit_value: 1000 } },
      { loc: ['body', 'writers', 0], type: 'value_error.any_str.max_length' },
      { loc: ['body', 'writers', 1], type: 'value_error.any_str.min_length' },
      { loc: ['body', 'admins'], type: 'type_error.list' },
    ]);
  });

  test('keep an admin when they are changed', () => {
    expect(refusals(accessControl, { admins: [] })).toEqual([]);
    expect(refusals(accessControlChange, { admins: [] })).toMatchObject([
      { loc: ['body', 'admins'], type: 'value_error.list.min_items', ctx: { limit_value: 1 } },
    ]);
    expect(refusals(accessControlChange, { readers: [] })).toEqual([]);
  });
});
