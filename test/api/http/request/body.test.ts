import { expect, test } from '@jest/globals';
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
