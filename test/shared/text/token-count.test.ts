import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { get_encoding } from 'tiktoken';
import { countTokens } from '../../../src/shared/text/token-count.js';
import { processorMilliseconds } from '../../support/processor-time.js';

const tiktoken = get_encoding('cl100k_base');
const raw = (text: string): number => tiktoken.encode(text, [], []).length;

describe('counting tokens', () => {
  test('agrees with tiktoken on words, numbers, contractions, punctuation and white space', () => {
    const text =
      "I'll say: they've 12345 dogs,  DON'T we?\r\n\r\n  - (brackets) 3.14\t\ttabs \n \n\u00a0x \u0085 it\u2019s 's 'LLama \u017f 'ſ";
    expect(countTokens(text)).toBe(raw(text));
  });

  test('agrees with tiktoken in scripts without spaces, with marks, and with emoji', () => {
    const text = '红军作战的原则。あいうえお、東京 हिन्दी में लिखा ไทยไม่มีช่องว่าง اللغة العربية 👩‍👩‍👧🇩🇪 e\u0301';
    expect(countTokens(text)).toBe(raw(text));
  });

  test('agrees with tiktoken on any text', () => {
    const word = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(' ', '  ', '\n', '\r\n', "'s", "'RE", '12345', '。', ' (', 'Wörter', '\t', ' \n '),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const text = words.join('');
        expect(countTokens(text)).toBe(raw(text));
      }),
      { numRuns: 500 },
    );
  });

  test('takes the names of special tokens for plain text', () => {
    expect(countTokens('<|endoftext|>')).toBe(raw('<|endoftext|>'));
    expect(countTokens('')).toBe(0);
  });

  test('counts the longest query that is one unbroken run without holding up the event loop', () => {
    countTokens('load the encoder');
    const started = processorMilliseconds();
    const count = countTokens('a'.repeat(32_768));
    expect(processorMilliseconds() - started).toBeLessThan(5_000);
    expect(count).toBe(4_096);
  });
});
