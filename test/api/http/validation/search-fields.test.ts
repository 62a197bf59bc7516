import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { createSchema } from 'zod-openapi';
import {
  bodyFilters,
  parseFilterText,
  queryFilters,
} from '../../../../src/api/http/validation/search-fields.js';
import { filterSchemas } from '../../../../src/api/http/validation/filter-schemas.js';
import { parseRequest } from '../../../../src/api/http/validation/validation-errors.js';
import { anyCharacter } from '../../../support/any-character.js';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { refusals } from '../../../support/refusals.js';

const invalid = { error: { loc: [], msg: 'Invalid JSON', type: 'value_error.jsondecode' } };

/** As Python's repr prints strings: single quotes unless that needs more escapes. */
function pythonRepr(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value === 'string') {
    const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
    const escaped = Array.from(value, (character) => {
      const code = character.codePointAt(0) ?? 0;
      if (character === quote || character === '\\') return `\\${character}`;
      if (code < 32 || code === 127) return `\\x${code.toString(16).padStart(2, '0')}`;
      if (code >= 0xd800 && code < 0xe000) return `\\u${code.toString(16)}`;
      return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : character;
    });
    return quote + escaped.join('') + quote;
  }
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, inner]) => `${pythonRepr(key)}: ${pythonRepr(inner)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}

describe('filters in a query string', () => {
  test.each(['', '  ', 'None', 'null', ' None '])('are none when they read %j', (text) => {
    expect(parseFilterText(text)).toEqual({ value: null });
  });

  test('are JSON', () => {
    expect(parseFilterText(' {"a": [1, true, null]} ')).toEqual({ value: { a: [1, true, null] } });
  });

  test('are what Python prints for a dict', () => {
    const text = `{'a': True, "b": None, 'it\\'s': ["it's", -1, +2.5, 1e-3, .5, False,], 'n': {'\\x41\\u00e9\\U0001F600\\n': 1,},}`;
    expect(parseFilterText(text)).toEqual({
      value: { a: true, b: null, "it's": ["it's", -1, 2.5, 0.001, 0.5, false], n: { 'Aé😀\n': 1 } },
    });
  });

  test('survive being printed by Python whatever they hold', () => {
    const unit = fc.string({ unit: anyCharacter, maxLength: 8 });
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
    fc.assert(
      fc.property(fc.dictionary(unit, value, { maxKeys: 4 }), (json) => {
        // JSON has no negative zero.
        const withoutNegativeZero: unknown = JSON.parse(JSON.stringify(json));
        expect(parseFilterText(pythonRepr(json))).toEqual({ value: withoutNegativeZero });
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    '{',
    "{'a'",
    "{'a': }",
    "{'a': 1",
    "{'a' 1}",
    '{,}',
    "{'a': 1,,}",
    "{'a': 1 'b': 2}",
    "{'a': 1} x",
    '{1: 2}',
    "{'a': true}",
    "{'a': null}",
    "{'a': nan}",
    "{'a': inf}",
    "{'a': Truex}",
    "{'a': 0x10}",
    "{'a': 1_000}",
    "{'a': 007}",
    "{'a': (1, 2)}",
    "{'a': b'x'}",
    "{'a': f'{1}'}",
    "{'a': 'b' 'c'}",
    "{'a': '\\q'}",
    "{'a': '\\x4'}",
    "{'a': '\\U00110000'}",
    "{'a': 'line\nbreak'}",
    "{'a': 'open}",
    "['a']",
    "'a'",
    'True',
    'NaN',
    "{'a': __import__('os')}",
    "{'a': -}",
    "{'a': 1e}",
    '{"a": NaN}',
  ])('are refused when they read %j', (text) => {
    expect(parseFilterText(text)).toEqual(invalid);
  });

  test('take linear time and bounded depth, however hostile', () => {
    const started = processorMilliseconds();
    const length = 60_000;
    const texts = ['[', '{', "{'a':", "{'a':[", "{'", "{'a': 1", "{'\\x41", "{'a':1e", '{ ', "{'a'"];
    for (const part of texts) expect(parseFilterText(part.repeat(length / part.length))).toEqual(invalid);
    expect(parseFilterText(`{'a': ${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).toEqual(invalid);
    expect(parseFilterText(`{"a": "${'x'.repeat(70_000)}"}`)).toEqual(invalid);
    expect(parseFilterText(`{'a': '${'x'.repeat(length)}'}`)).toEqual({ value: { a: 'x'.repeat(length) } });
    expect(processorMilliseconds() - started).toBeLessThan(3_000);
  });

  test('keep a key named __proto__ as the key it is', () => {
    const parsed = parseFilterText("{'__proto__': {'x': 1}}");
    expect(JSON.stringify(parsed)).toBe('{"value":{"__proto__":{"x":1}}}');
  });
});

describe('the fields of a request', () => {
  const query = z.object({ filters: queryFilters });
  const body = z.object({ filters: bodyFilters });

  test('hold the parsed filter beside what was sent', () => {
    const expected = {
      filters: { filter: { type: 'equals', path: 'a', values: [1] }, json: { a: 1 } },
    };
    expect(parseRequest(query, { filters: "{'a': 1}" }, 'query')).toEqual(expected);
    expect(parseRequest(body, { filters: { a: 1 } }, 'body')).toEqual(expected);
  });

  test('tell {} from none, which named caches need', () => {
    expect(parseRequest(body, { filters: {} }, 'body').filters).toEqual({ filter: null, json: {} });
    expect(parseRequest(body, { filters: null }, 'body').filters).toEqual({ filter: null, json: null });
    expect(parseRequest(body, {}, 'body').filters).toEqual({ filter: null, json: null });
    expect(parseRequest(query, {}, 'query').filters).toEqual({ filter: null, json: null });
  });

  test('hold a list to 1,000 values and a filter to its bytes, as JSON, Python or body', () => {
    const values = Array.from({ length: 1_001 }, (_, i) => i);
    for (const operator of ['$in', '$nin']) {
      const tooMany = { a: { [operator]: values } };
      const expected = { type: 'value_error.list.max_items', ctx: { limit_value: 1_000 } };
      const at = (location: string) => [
        expect.objectContaining({ loc: [location, 'filters', 'a', operator], ...expected }),
      ];
      expect(refusals(query, { filters: JSON.stringify(tooMany) }, 'query')).toEqual(at('query'));
      expect(refusals(query, { filters: pythonRepr(tooMany) }, 'query')).toEqual(at('query'));
      expect(refusals(body, { filters: tooMany })).toEqual(at('body'));
      expect(refusals(body, { filters: { a: { [operator]: values.slice(1) } } })).toEqual([]);
    }
    expect(refusals(body, { filters: { a: 'x'.repeat(300_000) } })).toEqual([
      expect.objectContaining({ loc: ['body', 'filters'], ctx: { limit_value: 262_144 } }),
    ]);
  });

  test('say so in the OpenAPI document', () => {
    const { schema: own, components } = createSchema(body, { io: 'input', openapiVersion: '3.1.0' });
    const schema = JSON.stringify([own, components]);
    expect(schema).toContain('"anyOf":[{"$ref":"#/components/schemas/Filter"},{"type":"null"}]');
    const operators = createSchema(filterSchemas['FilterOperators'] ?? z.never(), {
      io: 'input',
      openapiVersion: '3.1.0',
    });
    expect(JSON.stringify(operators)).toContain(
      '"$in":{"type":"array","items":{"type":["string","number","boolean","null"]},"maxItems":1000}',
    );
    expect(schema).toContain('262144 bytes');
    expect(JSON.stringify(createSchema(query, { io: 'input', openapiVersion: '3.1.0' }).schema)).toContain(
      '1000 values',
    );
  });

  const own: unknown = JSON.parse('{"__proto__": [1]}');
  test.each([
    [query, '[1]', ['query', 'filters'], 'type_error.dict'],
    [query, '{"a"', ['query', 'filters'], 'value_error.jsondecode'],
    [query, '{"a": {"$x": 1}}', ['query', 'filters', 'a', '$x'], 'value_error'],
    [body, '{"a": 1}', ['body', 'filters'], 'type_error.dict'],
    [body, own, ['body', 'filters', '__proto__'], 'value_error'],
  ])('%# refuse mistakes at their place', (schema, filters, loc, type) => {
    const location = schema === query ? 'query' : 'body';
    expect(refusals(schema, { filters }, location)).toEqual([expect.objectContaining({ loc, type })]);
  });
});
