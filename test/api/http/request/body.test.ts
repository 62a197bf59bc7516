import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../../../../src/api/http/json/json.js';

const withKeys = (count: number) =>
  Buffer.from(`{"metadata":{${Array.from({ length: count }, (_, i) => `"k${String(i)}":1`).join()}}}`);

const REFUSED = {
  status: 422,
  detail: [{ loc: ['body'], msg: 'Invalid JSON', type: 'value_error.jsondecode' }],
};

test('a body of a few thousand keys is read', () => {
  expect(parseJson(withKeys(9_000))).toMatchObject({ metadata: { k8999: 1 } });
});

test('a body of half a million keys is refused before objects are made of it, which would take seconds', () => {
  expect(() => parseJson(withKeys(500_000))).toThrow(expect.objectContaining(REFUSED));
});

test('colons within texts are no keys', () => {
  const content = 'a: b, "c": d '.repeat(10_000);
  expect(parseJson(Buffer.from(JSON.stringify({ content })))).toEqual({ content });
});

describe('numbers inside of the fields of a body', () => {
  const parse = (text: string, exactFrom?: number) =>
    parseJson(Buffer.from(text), exactFrom === undefined ? {} : { exactFrom });

  test('are infinite where a double would change them, and as they are everywhere else', () => {
    expect(parse('{"k":9007199254740993,"metadata":{"id":9007199254740993,"n":[1,-1e400,0.5]}}')).toEqual({
      k: 9007199254740992,
      metadata: { id: Infinity, n: [1, Infinity, 0.5] },
    });
    expect(parse('{"id":9007199254740993}', 1)).toEqual({ id: Infinity });
  });

  test('are found beside strings, escapes, repeated keys and signs of more than one byte', () => {
    const text = String.raw`{"ü":{"a\"9007199254740993":"9007199254740993 é","b":9007199254740993,"b":2,"c":[{"\\":1e999}]}}`;
    expect(parse(text)).toEqual({
      ü: { 'a"9007199254740993': '9007199254740993 é', b: 2, c: [{ '\\': Infinity }] },
    });
  });

  test.each([
    '01234567890123456789',
    '1234567890123456789.',
    '12345678901234567e',
    '1-2',
    '12345678901234567x',
    '+1',
  ])('that are malformed stay malformed: %s', (number) => {
    expect(() => parse(`{"metadata":{"id":${number}}}`)).toThrow(expect.objectContaining(REFUSED));
  });

  test('are otherwise parsed as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(value);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('do not hide that a text begins with a mark of its byte order', () => {
    expect(parse('\ufeff{"metadata":{"id":9007199254740993}}')).toEqual({ metadata: { id: Infinity } });
  });
});
