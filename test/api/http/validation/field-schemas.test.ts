import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  dict,
  jsonFloat,
  jsonInteger,
  list,
  nonBlankString,
  optionalNull,
  optionalNullOr,
  optionalOr,
  queryFloat,
  queryInteger,
} from '../../../../src/api/http/validation/field-schemas.js';
import { metadata, accessControl } from '../../../../src/api/http/validation/document-fields.js';
import { parseRequest } from '../../../../src/api/http/validation/validation-errors.js';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { refusals } from '../../../support/refusals.js';

/** The one refusal of the field `f`, without its place. */
function refusal(field: z.ZodType, value: unknown, location: 'body' | 'query' = 'body'): unknown {
  const detail = refusals(z.object({ f: field }), value === undefined ? {} : { f: value }, location);
  expect(detail).toEqual([expect.objectContaining({ loc: [location, 'f'] })]);
  const [item] = z
    .array(z.object({ msg: z.string(), type: z.string(), ctx: z.unknown().optional() }))
    .parse(detail);
  return item && [item.type, item.msg, ...(item.ctx === undefined ? [] : [item.ctx])];
}

const search = z.object({
  query: nonBlankString({ max: 32 }),
  k: optionalNullOr(jsonInteger({ ge: 1, le: 1000 }), 4),
  min_score: optionalNullOr(jsonFloat({ ge: 0, le: 1 }), 0),
  stream: optionalNullOr(z.boolean(), false),
});

describe('a request', () => {
  test('is typed data with defaults, unknown fields ignored, null the same as absent', () => {
    const expected = { query: 'x', k: 4, min_score: 0, stream: false };
    expect(parseRequest(search, { query: 'x', use_reranking: true }, 'body')).toEqual(expected);
    expect(parseRequest(search, { query: 'x', k: null, min_score: null, stream: null }, 'body')).toEqual(
      expected,
    );
    expect(parseRequest(search, { query: 'x', k: 1000, min_score: 1, stream: true }, 'body')).toEqual({
      query: 'x',
      k: 1000,
      min_score: 1,
      stream: true,
    });
  });

  test('has all its failures listed', () => {
    expect(refusals(search, { k: 0, min_score: 'high', stream: 'yes' })).toEqual([
      { loc: ['body', 'query'], msg: 'field required', type: 'value_error.missing' },
      {
        loc: ['body', 'k'],
        msg: 'ensure this value is greater than or equal to 1',
        type: 'value_error.number.not_ge',
        ctx: { limit_value: 1 },
      },
      { loc: ['body', 'min_score'], msg: 'value is not a valid float', type: 'type_error.float' },
      { loc: ['body', 'stream'], msg: 'value could not be parsed to a boolean', type: 'type_error.bool' },
    ]);
  });

  test.each([
    [undefined, 'field required', 'value_error.missing'],
    [null, 'none is not an allowed value', 'type_error.none.not_allowed'],
    [[], 'value is not a valid dict', 'type_error.dict'],
    ['{}', 'value is not a valid dict', 'type_error.dict'],
  ])('whose body is %j is refused as a whole', (body, msg, type) => {
    expect(refusals(search, body)).toEqual([{ loc: ['body'], msg, type }]);
  });

  test('that repeats a query parameter means the last one', () => {
    expect(parseRequest(z.object({ limit: queryInteger() }), { limit: ['1', '2'] }, 'query')).toEqual({
      limit: 2,
    });
  });
});

describe('a required field', () => {
  test.each([
    ['string', nonBlankString()],
    ['integer', jsonInteger()],
    ['float', jsonFloat()],
    ['boolean', z.boolean()],
    ['dict', dict],
    ['metadata', metadata],
    ['list', list(z.string())],
    ['enumeration', z.enum(['a'])],
    ['access lists', accessControl],
    ['query integer', queryInteger()],
  ])('of type %s is missing or null', (_, field) => {
    expect(refusal(field, undefined)).toEqual(['value_error.missing', 'field required']);
    expect(refusal(field, null)).toEqual(['type_error.none.not_allowed', 'none is not an allowed value']);
  });
});

describe('a value of the wrong type', () => {
  const integer = ['type_error.integer', 'value is not a valid integer'];
  const float = ['type_error.float', 'value is not a valid float'];
  test.each([
    [nonBlankString(), 4, ['type_error.str', 'str type expected']],
    [jsonInteger({ ge: 4 }), '4', integer],
    [jsonInteger({ ge: 4 }), 2.5, integer],
    [jsonInteger({ ge: 4 }), true, integer],
    [jsonInteger(), Infinity, integer],
    [optionalNull(jsonInteger()), [4], integer],
    [jsonFloat(), '4', float],
    [jsonFloat({ le: 1 }), NaN, float],
    [jsonFloat(), Infinity, float],
    [z.boolean(), 'true', ['type_error.bool', 'value could not be parsed to a boolean']],
    [z.boolean(), 1, ['type_error.bool', 'value could not be parsed to a boolean']],
    [dict, [], ['type_error.dict', 'value is not a valid dict']],
    [metadata, 'x', ['type_error.dict', 'value is not a valid dict']],
    [accessControl, [], ['type_error.dict', 'value is not a valid dict']],
    [list(z.string()), { 0: 'a' }, ['type_error.list', 'value is not a valid list']],
    [z.string().regex(/^[a-z]+$/), 'A', ['value_error.str.regex', 'string does not match regex "^[a-z]+$"']],
    [
      z.enum(['a', 'b']),
      'c',
      ['type_error.enum', "value is not a valid enumeration member; permitted: 'a', 'b'"],
    ],
  ])('%# is named so', (field, value, expected) => {
    expect(refusal(field, value)).toEqual(expected);
  });
});

describe('a value out of bounds', () => {
  const no = (type: string, msg: string, limit: number) => [type, msg, { limit_value: limit }];
  test.each([
    [
      jsonInteger({ ge: 1, le: 10 }),
      11,
      no('value_error.number.not_le', 'ensure this value is less than or equal to 10', 10),
    ],
    [
      jsonInteger({ ge: 1, le: 10 }),
      1e300,
      no('value_error.number.not_le', 'ensure this value is less than or equal to 10', 10),
    ],
    [
      jsonFloat({ ge: 0 }),
      -1e-9,
      no('value_error.number.not_ge', 'ensure this value is greater than or equal to 0', 0),
    ],
    [
      nonBlankString(),
      '',
      no('value_error.any_str.min_length', 'ensure this value has at least 1 characters', 1),
    ],
    [
      nonBlankString(),
      ' \n\u3000',
      no('value_error.any_str.min_length', 'ensure this value has at least 1 characters', 1),
    ],
    [
      nonBlankString({ max: 2 }),
      'abc',
      no('value_error.any_str.max_length', 'ensure this value has at most 2 characters', 2),
    ],
    [
      nonBlankString({ max: 2 }),
      'a😀c',
      no('value_error.any_str.max_length', 'ensure this value has at most 2 characters', 2),
    ],
    [
      list(z.string(), { min: 1 }),
      [],
      no('value_error.list.min_items', 'ensure this value has at least 1 items', 1),
    ],
    [
      list(z.string(), { max: 1 }),
      ['a', 'b'],
      no('value_error.list.max_items', 'ensure this value has at most 1 items', 1),
    ],
  ])('%# is told its bound', (field, value, expected) => {
    expect(refusal(field, value)).toEqual(expected);
  });

  test('is none when it is on the bound; characters are counted, not their halves', () => {
    expect(parseRequest(jsonInteger({ ge: 1, le: 10 }), 10.0, 'body')).toBe(10);
    expect(parseRequest(jsonFloat({ ge: 0, le: 1 }), 1, 'body')).toBe(1);
    expect(parseRequest(nonBlankString({ max: 2 }), '😀😀', 'body')).toBe('😀😀');
    expect(parseRequest(nonBlankString({ max: 2 }), ' a', 'body')).toBe(' a');
  });
});

describe('a query string', () => {
  const page = z.object({
    skip: optionalOr(queryInteger({ ge: 0 }), 0),
    limit: optionalOr(queryInteger({ ge: 1, le: 100 }), 100),
  });

  test('has its numbers parsed', () => {
    expect(parseRequest(page, {}, 'query')).toEqual({ skip: 0, limit: 100 });
    expect(parseRequest(page, { skip: '+7', limit: ' 5 ' }, 'query')).toEqual({ skip: 7, limit: 5 });
    expect(parseRequest(z.object({ t: queryFloat() }), { t: '1.5e0' }, 'query')).toEqual({ t: 1.5 });
  });

  test('with a limit above 100 is refused', () => {
    expect(refusals(page, { limit: '101' }, 'query')).toEqual([
      {
        loc: ['query', 'limit'],
        msg: 'ensure this value is less than or equal to 100',
        type: 'value_error.number.not_le',
        ctx: { limit_value: 100 },
      },
    ]);
  });

  test.each(['', 'ten', '2.5', '1e2', '0x10', '1,000', 'null', '9'.repeat(400)])(
    'with skip=%s has no integer',
    (skip) => {
      expect(refusals(page, { skip }, 'query')).toEqual([
        { loc: ['query', 'skip'], msg: 'value is not a valid integer', type: 'type_error.integer' },
      ]);
    },
  );

  test('with a negative or immense skip is out of bounds', () => {
    expect(refusals(page, { skip: '-1' }, 'query')).toMatchObject([{ type: 'value_error.number.not_ge' }]);
    expect(refusals(page, { skip: '9'.repeat(30) }, 'query')).toMatchObject([
      { type: 'value_error.number.not_le', ctx: { limit_value: Number.MAX_SAFE_INTEGER } },
    ]);
  });
});

describe('a list', () => {
  test('has each wrong item listed at its place', () => {
    expect(refusals(list(nonBlankString()), ['a', 1, '', 'b', null])).toMatchObject([
      { loc: ['body', 1], type: 'type_error.str' },
      { loc: ['body', 2], type: 'value_error.any_str.min_length' },
      { loc: ['body', 4], type: 'type_error.none.not_allowed' },
    ]);
  });

  test('of a million wrong items is answered quickly with the first hundred', () => {
    const started = processorMilliseconds();
    const wrong = Array.from({ length: 1_000_000 }, () => 1);
    expect(refusals(list(z.string()), wrong)).toHaveLength(100);
    expect(refusals(list(z.string(), { max: 1000 }), wrong)).toHaveLength(1);
    expect(processorMilliseconds() - started).toBeLessThan(3_000);
  });
});
