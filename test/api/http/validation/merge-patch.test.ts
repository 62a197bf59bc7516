import { describe, expect, test } from '@jest/globals';
import { mergePatch } from '../../../../src/api/http/validation/document-fields.js';
import type { Json } from '../../../../src/shared/document.js';

describe('a merge patch', () => {
  /** The examples of RFC 7396, appendix A. */
  const examples: readonly (readonly [original: Json, patch: Json, result: Json])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];

  test.each(examples)('of %j by %j makes %j', (original, patch, result) => {
    expect(mergePatch(original, patch)).toEqual(result);
  });

  test('may name a key as the prototype of objects is named', () => {
    const patch = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as Json;
    const merged = mergePatch({ a: 1 }, patch);
    expect(JSON.stringify(merged)).toBe('{"a":1,"__proto__":{"admin":true},"constructor":1}');
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
  });
});
