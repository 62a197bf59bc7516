import { deflateSync } from 'node:zlib';
import { describe, expect, jest, test } from '@jest/globals';
import type { ParsedPage } from '@llamaindex/liteparse';
import { findHidden } from '../../../../src/readers/formats/pdf/hidden.js';
import { createSupplementary } from '../../../../src/readers/formats/pdf/marks/supplementary.js';
import { createSignFinder } from '../../../../src/readers/formats/pdf/marks/symbol-fonts.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { createWorkBudget } from '../../../../src/readers/formats/pdf/work-budgets.js';
import { loadPdfium } from '../../../../src/readers/formats/pages/pdfium.js';
import { DEFAULT_READ_OPTIONS } from '../../../../src/readers/read-options.js';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import { eastAsianFont, utf16, wideLine } from '../../../support/japanese-text.js';
import { readBlocks } from '../../../support/read-blocks.js';

const [SYMBOL, EMOJI, MAP] = [FIRST_OBJECT + 3, FIRST_OBJECT + 4, FIRST_OBJECT + 5];
const objects = [
  ...eastAsianFont({ language: 'Korean', direction: 'H' }),
  '<</Type/Font/Subtype/TrueType/BaseFont/ABCDEF+SymbolMT>>',
  `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode ${String(MAP)} 0 R>>`,
  stream(
    '/Filter/FlateDecode',
    deflateSync(
      `begincmap 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <${utf16('🎉')}> endbfchar endcmap`,
    ),
  ),
];
const fonts = `/F9 ${String(FIRST_OBJECT)} 0 R/FS ${String(SYMBOL)} 0 R/FE ${String(EMOJI)} 0 R`;
const white = { before: '1 1 1 rg' };
/** Each kind of text that is looked for, with text that nobody sees. */
const KINDS = [
  line(40, 700, 'Tolerance') + 'BT /FS 10 Tf 92 700 Td <b1> Tj ET\n' + line(104, 700, '5 mm'),
  line(40, 680, 'A').replace('/F1', '/FE'),
  line(40, 660, 'The river') + wideLine(82, 660, '강') + line(94, 660, 'is long.'),
].map((content) => content + line(40, 640, 'praise us', white));

describe('the work of reading a PDF', () => {
  test('is the same on a slow machine: the file has the same text and the same receipt', async () => {
    const pages = [...KINDS, ...KINDS].map((content) => ({ content, fonts }));
    const file = drawPdf({ pages, objects });
    const usual = await readBlocks(parsePdf, file);
    for (const text of ['Tolerance ± 5 mm', '🎉', 'The river 강 is long.'])
      expect(usual.text.split(text)).toHaveLength(3);
    expect(usual.receipt.gap_counts).toEqual({ hidden: 6 });
    let now = 0;
    const clocks = [jest.spyOn(performance, 'now'), jest.spyOn(Date, 'now')];
    for (const clock of clocks) clock.mockImplementation(() => (now += 30_000));
    const slow = await readBlocks(parsePdf, file);
    for (const clock of clocks) clock.mockRestore();
    expect(slow).toEqual(usual);
  });

  test('ends where pages take far longer than is counted of them, and the beginning of a file tells of it, too', async () => {
    const [content = ''] = KINDS;
    // Further down, texts are no heads of pages, of which the first alone is read.
    const page = { content: content.replaceAll('700', '500'), fonts: `/FS ${String(FIRST_OBJECT)} 0 R` };
    const file = drawPdf({ pages: [page, page, page, page], objects: objects.slice(3, 4) });
    const clock = jest.spyOn(process, 'cpuUsage');
    clock.mockImplementation((begun) => ({ user: begun ? 25_000_000 : 0, system: 0 }));
    const slow = await readBlocks(parsePdf, file);
    const receipt = createReceiptWriter();
    const context = { filename: null, options: DEFAULT_READ_OPTIONS, receipt };
    for await (const _block of parsePdf(file, context)) break;
    clock.mockRestore();
    expect(slow.text.split('praise us')).toHaveLength(5);
    const limit = (first: number, sought: string) => ({
      reason: 'limit',
      location: { pages: { first, last: 4 } },
      detail: `Not all of these pages were looked through for ${sought}, which takes too long.`,
    });
    const limits = [limit(1, 'hidden text'), limit(3, 'signs of symbol fonts')];
    for (const { gaps } of [slow.receipt, receipt.findings()])
      expect(gaps.filter(({ reason }) => reason === 'limit')).toEqual(limits);
  });

  test('ends with the budget, and a gap names the pages that were not drawn for hidden text', async () => {
    const bytes = drawPdf({
      pages: [1, 2, 3].map(() => ({ content: line(40, 640, 'praise us', white) })),
    });
    const pdfium = await loadPdfium();
    if (!pdfium) throw new Error('this machine has no PDFium');
    const pages: ParsedPage[] = [];
    for await (const batch of pdfium.readBatches(bytes, { withShapes: false, withFields: false }))
      pages.push(...batch.pages);
    const budget = createWorkBudget(1, 'hidden text');
    const how = {
      pdfium,
      bytes,
      turns: new Map(),
      undrawn: new Set<string>(),
      areAllDoubtful: false,
      budget,
    };
    const seen = await findHidden(pages, how);
    expect(seen.map(({ hidden }) => hidden.length)).toEqual([1, 0, 0]);
    const [again] = await findHidden(pages.slice(0, 1), how);
    expect(again?.hidden).toEqual([]);
    const receipt = createReceiptWriter();
    budget.report(receipt);
    expect(receipt.findings().gaps).toEqual([
      {
        reason: 'limit',
        location: { pages: { first: 1, last: 3 } },
        detail: 'Not all of these pages were looked through for hidden text, which takes too long.',
      },
    ]);
  });

  test.each(['signs', 'supplementary'] as const)(
    'ends with the budget, and a gap names the pages that were not asked for %s',
    async (kind) => {
      const receipt = createReceiptWriter();
      const budget = createWorkBudget(2_000, kind);
      const asked: number[] = [];
      const ask = (page: number) => {
        asked.push(page);
        return Promise.resolve([]);
      };
      const second = { signs: ask, supplementary: ask, object: () => Promise.resolve(1) };
      const source = { second, objects: { mayUse: () => true }, receipt, budget };
      const finder =
        kind === 'signs'
          ? createSignFinder({ ...source, bytes: Buffer.from('/Wingdings') })
          : createSupplementary({ ...source, maps: 'any' });
      // @NOTE nothing else of pages is read
      const pages = [1, 2, 3, 4].map((pageNum) => ({ pageNum, textItems: [] }) as unknown as ParsedPage);
      await finder.find(pages, new Map());
      expect(asked).toEqual([1, 2]);
      budget.report(receipt);
      expect(receipt.findings().gaps).toMatchObject([
        { reason: 'limit', location: { pages: { first: 3, last: 4 } } },
      ]);
    },
  );
});
