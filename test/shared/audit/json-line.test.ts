import { describe, expect, test } from '@jest/globals';
import { jsonLine } from '../../../src/shared/audit/entry.js';

describe('a line of JSON', () => {
  test('holds one end of a line and no control character, whatever its texts are, and says the same', () => {
    const texts = [
      '\u0000',
      '\n',
      '\r',
      '\u001b',
      '\u007f',
      '\u0085',
      '\u009b',
      '\u009f',
      '\u2028',
      '\u2029',
    ];
    const value = { [texts.join('')]: texts, plain: '\u00a0ä\u2027\u202a😀\\u2028' };
    const line = jsonLine(value);
    expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+\n$/);
    expect(JSON.parse(line)).toEqual(value);
    expect(line).toContain('\u00a0ä\u2027\u202a😀');
  });
});
