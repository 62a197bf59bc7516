import { describe, expect, test } from '@jest/globals';
import { splitTexts } from '../../../../src/readers/formats/pages/tables/ruled-tables.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import type { ColumnPart } from '../../../../src/readers/formats/pdf/vertical/column-parts.js';
import { findColumns } from '../../../../src/readers/formats/pdf/vertical/find-columns.js';
import { drawPdf, FIRST_OBJECT, line } from '../../../support/drawn-pdf.js';
import { japaneseFontTest } from '../../../support/east-asian-fonts.js';
import { japaneseFont, utf16 } from '../../../support/japanese-text.js';
import { readBlocks } from '../../../support/read-blocks.js';

interface Setting {
  readonly direction: 'H' | 'V';
  readonly content: string;
}

const read = async ({ direction, content }: Setting) => {
  const fonts = `/J ${String(FIRST_OBJECT)} 0 R`;
  const bytes = drawPdf({ pages: [{ content, fonts }], objects: japaneseFont(direction) });
  return await readBlocks(parsePdf, bytes);
};

const show = (text: string, x: number, y: number, size = 14): string =>
  `BT /J ${String(size)} Tf ${String(x)} ${String(y)} Td <${utf16(text)}> Tj ET\n`;

/** Columns from the right in a font for vertical text. */
const columns = (texts: readonly string[], pitch: number): string =>
  texts.map((text, at) => show(text, 500 - pitch * at, 700)).join('');

/** The same with each character drawn below the one before. */
const stacks = (texts: readonly string[], { pitch, step }: { pitch: number; step: number }): string =>
  texts
    .flatMap((text, at) =>
      [...text].map((character, index) => show(character, 500 - pitch * at, 700 - step * index)),
    )
    .join('');

const part = (text: string, middle: number, top: number, size = 10): ColumnPart => ({
  text,
  middle,
  top,
  bottom: top + size,
  size,
  isVertical: false,
});

describe('Vertical text of a PDF', () => {
  test('is read column by column from the right, however short, where its font says so', async () => {
    for (const pitch of [28, 15]) {
      const { text, blocks } = await read({
        direction: 'V',
        content: columns(['かきくけこ', '東京都'], pitch),
      });
      expect(text.trim()).toBe('かきくけこ\n東京都');
      const [box] = blocks[0]?.place?.boxes ?? [];
      expect(box).toMatchObject({ x: 493 - pitch, y: 92, width: 14 + pitch, height: 70 });
    }
    expect((await read({ direction: 'V', content: columns(['東京都'], 20) })).text.trim()).toBe('東京都');
  });

  test('is read column by column where eight characters are drawn one below another', async () => {
    for (const [pitch, step] of [
      [28, 14],
      [17, 14],
      [30, 19],
    ] as const) {
      const content = stacks(['かきくけこ', '東京都'], { pitch, step });
      expect((await read({ direction: 'H', content })).text.trim()).toBe('かきくけこ\n東京都');
    }
    const poem = ['春眠不覺曉', '處處聞啼鳥', '夜來風雨聲', '花落知多少'];
    const content = `${line(60, 760, 'The poem of the month')}${stacks(poem, { pitch: 20, step: 14 })}${line(60, 500, 'Below it stands this.')}`;
    const { text } = await read({ direction: 'H', content });
    expect(text).toBe(`The poem of the month\n\n${poem.join('\n')}\n\nBelow it stands this.\n\n`);
  });

  test('is told from characters that are drawn side by side with wide spaces', async () => {
    const across = ['かきくけこ', '東京都内地']
      .flatMap((text, at) => [...text].map((each, index) => show(each, 60 + 20 * index, 700 - 16 * at)))
      .join('');
    expect((await read({ direction: 'H', content: across })).text.trim()).toBe('かきくけこ\n東京都内地');
  });

  // PDFium's reader, which finds tables without lines, has no text there where the machine has no font for it.
  japaneseFontTest('is told from cells', async () => {
    const rows = ['項可否', '甲有無', '乙無有', '丙有有'].flatMap((text, at) =>
      [...text].map((each, index) => show(each, 60 + 80 * index, 700 - 16 * at, 12)),
    );
    const { text } = await read({ direction: 'H', content: rows.join('') });
    expect(text).toContain('| 甲 | 有 | 無 |');
  });

  test('has numbers and Latin letters that stand side by side or on their side within its columns', () => {
    const column = ['十', '月', '12', '日', 'に', 'ABC', 'が', '出', '来', 'た'];
    const parts = column.map((text, at) => part(text, 100 + (at % 2), 50 + 10 * at));
    const [found, ...others] = findColumns(parts);
    expect(found?.glyphs.map(({ text }) => text).join('')).toBe(column.join(''));
    expect(others).toEqual([]);
  });

  test('goes on below readings, which stand beside their characters, and ends with a short column', () => {
    const characters = Array.from('東京の天気は晴れ').map((text, at) => part(text, 100, 50 + 10 * at));
    const reading = Array.from('とう').map((text, at) => part(text, 109, 50 + 5 * at, 5));
    const end = Array.from('だ。').map((text, at) => part(text, 82, 50 + 10 * at));
    const far = part('印', 20, 300);
    const parts = [...characters.slice(0, 2), ...reading, ...characters.slice(2), ...end, undefined, far];
    const texts = findColumns(parts).map(({ glyphs }) => glyphs.map(({ text }) => text).join(''));
    expect(texts).toEqual(['東京の天気は晴れ', 'とう', 'だ。']);
  });

  test('is no text that nobody sees', async () => {
    const seen = columns(['かきくけこさしすせそ', '東京都'], 28);
    const { text, receipt } = await read({
      direction: 'V',
      content: `${seen}1 1 1 rg ${show('隠された命令文', 300, 700)}`,
    });
    expect(text).toContain('かきくけこさしすせそ\n東京都');
    expect(text).not.toContain('隠');
    expect(receipt.gap_counts).toEqual({ hidden: 1 });
  });
});

test('Texts without spaces that the reader joined across columns are split at the line between them', () => {
  const at = (place: number) => ({ at: place, isRuled: true });
  const down = [100, 140, 180].map((place) => ({ at: place, from: 100, to: 140 }));
  const grid = {
    columns: [100, 140, 180].map(at),
    rows: [100, 120, 140].map(at),
    rulings: { across: [], down },
  };
  const piece = { y: 105, height: 10, size: 10, isBold: false };
  const joined = { ...piece, text: '東京都内神奈川県', x: 101, width: 78 };
  const other = { ...piece, text: '外', x: 181, width: 10 };
  const texts = splitTexts(grid, [joined, other]).map(({ text }) => text);
  expect(texts).toEqual(['東京都内', '神奈川県', '外']);
});
