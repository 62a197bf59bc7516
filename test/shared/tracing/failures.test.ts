import { describe, expect, test } from '@jest/globals';
import { errorTypeOf } from '../../../src/shared/tracing/open-telemetry.js';

describe('the kind of an error that a trace names', () => {
  test.each<[string, unknown, string]>([
    ['a code', 'too_large', 'too_large'],
    ['a status', '503', '503'],
    ['a string that may be a message', 'cannot parse "Dear Alice"', 'string'],
    ['a string that is longer than any code', 'x'.repeat(41), 'string'],
    ['an error', new TypeError('Dear Alice'), 'TypeError'],
    ['a system error', Object.assign(new Error('Dear Alice'), { code: 'EIO' }), 'EIO'],
    ['something else', 7, 'number'],
  ])('of %s', (_, error, type) => {
    expect(errorTypeOf(error)).toBe(type);
  });
});
