import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { ParsedPage } from '@llamaindex/liteparse';
import type { ReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { createSupplementary } from '../../../../src/readers/formats/pdf/marks/supplementary.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { createWorkBudgets } from '../../../../src/readers/formats/pdf/work-budgets.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import { processorMilliseconds } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';

const utf16 = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex');

/** A page in Helvetica, and a further font F9 whose capital letters from A on mean these characters. */
function read(content: string, characters: readonly string[], entries = '') {
  const chars = characters.map((text, at) => `<${(0x41 + at).toString(16)}> <${utf16(text)}>`).join('\n');
  const map = `begincmap 1 begincodespacerange <00> <FF> endcodespacerange ${String(characters.length)} beginbfchar ${chars} endbfchar endcmap`;
  const objects = [
    `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode ${String(FIRST_OBJECT + 1)} 0 R>>`,
    stream('/Filter/FlateDecode', deflateSync(map)),
  ];
  const fonts = `/F9 ${String(FIRST_OBJECT)} 0 R`;
  return readBlocks(
    parsePdf,
    drawPdf({ pages: [{ content, fonts, entries }, { content: line(40, 700, 'Last') }], objects }),
  );
}

const shown = (x: number, y: number, text: string): string => line(x, y, text).replace('/F1', '/F9');

describe('Characters of a PDF beyond U+FFFF', () => {
  test('are read where they stand: alone, beside other texts, and within one', async () => {
    const { text, gaps } = await read(
      line(40, 700, 'Let') +
        shown(57, 700, 'A') +
        line(67, 700, '+ 12 = ') +
        shown(98.2, 700, 'B') +
        shown(40, 680, 'so (A) is read, and B is read, too') +
        shown(40, 660, 'C'),
      ['𝑥', '𝑦', '🎉'],
    );
    expect(text.trim().split(/\n+/)).toEqual([
      'Let 𝑥 + 12 = 𝑦',
      'so (𝑥) is read, and 𝑦 is read, too',
      '🎉',
      'Last',
    ]);
    expect(gaps).toEqual([]);
  });

  test('are read in the cells of a table', async () => {
    const rows = [
      ['Sign', 'Town', 'Count'],
      ['A', 'Lyon', '12'],
      ['B', 'Turin', '31'],
    ];
    const { text } = await read(
      rows
        .flatMap((row, at) => row.map((cell, place) => shown(60 + 100 * place, 700 - 20 * at, cell)))
        .join('') +
        [714, 694, 674, 654].map((y) => `50 ${String(y)} m 350 ${String(y)} l S\n`).join('') +
        [50, 150, 250, 350].map((x) => `${String(x)} 714 m ${String(x)} 654 l S\n`).join(''),
      ['𠮷', '𩸽'],
    );
    expect(text).toContain('| 𠮷 | Lyon | 12 |\n| 𩸽 | Turin | 31 |');
  });

  test('are named where they stay out: in text that runs upwards, on the page that has them', async () => {
    const upwards = `q 0 1 -1 0 300 100 cm ${shown(0, 0, 'A here')} Q`;
    const { gaps } = await read(line(40, 700, 'An ordinary sentence of the page.') + upwards, ['𝑥']);
    expect(gaps).toEqual([
      'garbled: Characters beyond U+FFFF, such as emoji, rare ideographs and the italic letters of formulas, were left out.',
    ]);
    expect((await read(line(40, 700, 'Only words') + shown(40, 680, 'A'), ['α'])).gaps).toEqual([]);
  });

  test('take a bounded time, however many stand in a text and however long the line is', async () => {
    const pairs = 20_000;
    const box = { x: 0, y: 0, width: 500, height: 10 };
    const gaps: string[] = [];
    const supplementary = createSupplementary({
      second: {
        supplementary: () =>
          Promise.resolve([{ text: 'a🎉'.repeat(pairs), fontName: 'f', isLevel: true, box }]),
        object: () => Promise.resolve(1),
      },
      objects: { mayUse: () => true },
      maps: 'any',
      budget: createWorkBudgets().supplementary,
      // @NOTE nothing else of a receipt is written
      receipt: { addGap: (reason: string) => gaps.push(reason) } as unknown as ReceiptWriter,
    });
    // @NOTE nothing else of a page is read
    const page = { pageNum: 1, textItems: [{ text: 'a'.repeat(pairs), ...box }] } as unknown as ParsedPage;
    const start = processorMilliseconds();
    const [read] = await supplementary.find([page], new Map());
    expect(processorMilliseconds() - start).toBeLessThan(9_000);
    expect(read?.textItems[0]?.text).toContain('🎉');
    expect(gaps).toEqual(['garbled']);
  }, 60_000);
});
