import { describe, expect, test } from '@jest/globals';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { bulletMark, createSignReader, signsOf } from '../../../../src/readers/formats/signs/sign-reader.js';

function read(text: string, font: string | undefined) {
  const receipt = createReceiptWriter();
  const signs = createSignReader(receipt);
  const shown = signs.read(text, font);
  signs.report();
  return { shown, gaps: receipt.findings().gaps.map(({ reason, detail }) => `${reason}: ${detail}`) };
}

describe('the characters of a symbol font', () => {
  test.each([
    ['Symbol', 'abgDW', 'αβγΔΩ'],
    ['Symbol', '\u00b1\u00b3\u00a3\u00b9\u00a5\u00b0\u00b4\u00b7', '±≥≤≠∞°×•'],
    ['Symbol', '\uf0e5\uf0d6\uf0f2\uf0ce', '∑√∫∈'],
    ['Wingdings', '\uf0fe \uf0a8 \uf0fd \uf0fc \uf0fb', '☑ ☐ ☒ ✓ ✗'],
    ['Wingdings', 'J K L', '☺ 😐 ☹'],
    ['Wingdings', '\u00e0\u00df\u0028', '→←🕿'],
    ['Wingdings 2', 'RT\u00a3P', '☑☒☐✓'],
    ['Wingdings 3', '\uf022\uf021', '⭢⭠'],
    ['Webdings', 'a\u00fc', '✔🌍'],
    ['ZapfDingbats', '34n', '✓✔■'],
    ['ITC Zapf Dingbats', '\uf048', '★'],
    ['Monotype Sorts', '4', '✔'],
  ])('of %s are what they show: %s is %s', (font, text, shown) => {
    expect(read(text, font)).toEqual({ shown, gaps: [] });
  });

  test.each([
    'SymbolMT',
    'ABCDEF+SymbolMT',
    'Symbol,Bold',
    'Symbol-Italic',
    "'Symbol'",
    'Symbol Neu',
    'StandardSymbolsL',
  ])('are those of Symbol in %s', (font) => {
    expect(read('a', font).shown).toBe('α');
  });

  test.each(['Segoe UI Symbol', 'Symbola', 'Apple Symbols', 'Noto Sans Symbols', 'Calibri', 'Symbolic Sans'])(
    'are letters in %s, which has none',
    (font) => {
      expect(signsOf(font)).toBeUndefined();
      expect(read('a ± ☒', font)).toEqual({ shown: 'a ± ☒', gaps: [] });
    },
  );

  test('stay as they are where they are borrowed from another font, and so do spaces', () => {
    expect(read('☒ \u2022 日\u00a0\t', 'Wingdings').shown).toBe('☒ \u2022 日\u00a0\t');
  });

  test('whose meaning nobody knows are left out and counted', () => {
    expect(read('ab', 'Marlett')).toEqual({
      shown: '',
      gaps: ['garbled: 2 signs of symbol fonts whose meaning is not known were left out.'],
    });
    expect(read('x \uf041', 'Some Barcode')).toEqual({
      shown: 'x ',
      gaps: ['garbled: 1 sign of a symbol font whose meaning is not known was left out.'],
    });
    expect(read('\uf0ff', 'Wingdings').shown).toBe('');
  });

  test('are told from text that a program has put into the font of the sign beside it', () => {
    expect(read('\uf0fe Yes', 'Wingdings').shown).toBe('☑ Yes');
    expect(read(' Accepted ', 'Wingdings').shown).toBe(' Accepted ');
    expect(read('nnnn', 'Wingdings').shown).toBe('◼◼◼◼');
  });
});

describe('the bullet of a list', () => {
  test('is kept where it tells something of the item', () => {
    expect(bulletMark('\uf0fe', 'Wingdings')).toBe('- ☑ ');
    expect(bulletMark('\u00a8', 'Wingdings')).toBe('- ☐ ');
    expect(bulletMark('☒')).toBe('- ☒ ');
  });

  test('is a dash where it tells nothing', () => {
    for (const [sign, font] of [
      ['\uf0b7', 'Symbol'],
      ['\u00a7', 'Wingdings'],
      ['o', 'Courier New'],
      ['•', undefined],
      ['', undefined],
    ] as const)
      expect(bulletMark(sign, font)).toBe('- ');
  });
});
