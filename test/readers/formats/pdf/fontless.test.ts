import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line } from '../../../support/drawn-pdf.js';
import { eastAsianFont, wideLine, type EastAsianFont } from '../../../support/japanese-text.js';
import { readBlocks } from '../../../support/read-blocks.js';

const read = (font: EastAsianFont, content: string, entries = '') =>
  readBlocks(
    parsePdf,
    drawPdf({
      pages: [{ content, fonts: `/F9 ${String(FIRST_OBJECT)} 0 R`, entries }],
      objects: eastAsianFont(font),
    }),
  );

const LANGUAGES: readonly (readonly [EastAsianFont['language'], readonly string[]])[] = [
  ['Japanese', ['春眠暁', 'を覚え', 'ずーと']],
  ['Simplified Chinese', ['我们读', '这本书', '的时候']],
  ['Traditional Chinese', ['臺灣的', '學生讀', '這本書']],
  ['Korean', ['작은마', '을에살', '고있다']],
];

/** Each character drawn by itself, side by side or one below another. */
const singly = (texts: readonly string[], direction: 'across' | 'down'): string =>
  texts
    .flatMap((text, at) =>
      [...text].map((character, index) =>
        direction === 'across'
          ? wideLine(72 + 10 * index, 700 - 16 * at, character)
          : wideLine(400 - 16 * at, 700 - 10 * index, character),
      ),
    )
    .join('');

describe('a PDF in fonts that are not in the file, whatever fonts the machine has', () => {
  test.each(LANGUAGES)('keeps every character of %s that is drawn by itself', async (language, texts) => {
    const across = await read({ language, direction: 'H' }, singly(texts, 'across'));
    expect(across.text.trim().split(/\n+/)).toEqual(texts);
    const down = await read({ language, direction: 'H' }, singly(texts, 'down'));
    // Only fonts for vertical text tell of Korean that it runs from top to bottom.
    const order = language === 'Korean' ? texts.join('').split('').sort() : texts;
    const lines = down.text.trim().split(/\n+/);
    expect(language === 'Korean' ? lines.join('').replace(/ /g, '').split('').sort() : lines).toEqual(order);
    expect([...across.gaps, ...down.gaps]).toEqual([]);
  });

  test.each(LANGUAGES)('keeps every character of %s in fonts for vertical text', async (language, texts) => {
    const content = texts.map((text, at) => wideLine(400 - 16 * at, 700, text)).join('');
    const { text, gaps } = await read({ language, direction: 'V' }, content);
    expect(text.trim().split(/\n+/)).toEqual(texts);
    expect(gaps).toEqual([]);
  });

  test('keeps a character between words, and in text that runs upwards or on a page that is turned', async () => {
    const font = { language: 'Korean', direction: 'H' } as const;
    const between = line(72, 700, 'The river') + wideLine(114, 700, '강') + line(126, 700, 'is long.');
    expect((await read(font, between)).text.trim()).toBe('The river 강 is long.');
    const upwards = `q 0 1 -1 0 300 100 cm ${line(0, 0, 'A river')}${wideLine(40, 0, '강')} Q`;
    expect((await read(font, upwards)).text.trim()).toBe('A river 강');
    const turned = await read(
      font,
      `q 0 1 -1 0 300 100 cm ${line(0, 0, 'A')}${wideLine(10, 0, '강')} Q`,
      '/Rotate 90',
    );
    expect(turned.text.trim()).toBe('A 강');
    const [box] = turned.blocks[0]?.place?.boxes ?? [];
    expect(box?.width).toBeGreaterThan(15);
  });

  test('keeps white text on a dark box, and leaves out white text on the white page', async () => {
    const box = 'q 0 0 0.4 rg 60 690 200 30 re f Q\n';
    const content = `${box}q 1 1 1 rg ${wideLine(72, 700, '강')}${wideLine(92, 700, '작은 마을')} Q\n`;
    const hidden = `q 1 1 1 rg ${wideLine(72, 600, '비')}${wideLine(92, 600, '밀이다')} Q\n`;
    const invisible = `q 3 Tr ${wideLine(72, 500, '꿈')} Q\n`;
    const { text, receipt } = await read(
      { language: 'Korean', direction: 'H' },
      content + hidden + invisible + wideLine(72, 400, '물'),
    );
    expect(text.replace(/\s+/g, '')).toBe('강작은마을물');
    expect(receipt.gap_counts).toEqual({ hidden: 2 });
  });
});
