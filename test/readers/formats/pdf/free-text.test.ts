import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { createReceiptWriter } from '../../../../src/readers/receipt/receipt-writer.js';
import { addFreeText, mayHoldFreeText } from '../../../../src/readers/formats/pdf/free-text.js';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

interface Typed {
  readonly number?: number;
  readonly flags?: number;
  /** The visible part of it. */
  readonly shown?: string;
}

/** A text typed onto a page as an annotation, and its appearance. */
function typed(
  text: string,
  y: number,
  { number = FIRST_OBJECT, flags = 4, shown = text }: Typed = {},
): (string | Buffer)[] {
  const box = `[60 ${String(y)} 360 ${String(y + 20)}]`;
  const drawing = Buffer.from(`BT /F1 12 Tf 2 6 Td (${shown}) Tj ET`);
  const entries = '/Type/XObject/Subtype/Form/BBox[0 0 300 20]/Resources<</Font<</F1 3 0 R>>>>';
  return [
    `<</Type/Annot/Subtype/FreeText/Rect${box}/F ${String(flags)}/Contents(${text})/DA(/F1 12 Tf 0 g)/AP<</N ${String(number + 1)} 0 R>>>>`,
    stream(entries, drawing),
  ];
}

const annotations = `/Annots[${String(FIRST_OBJECT)} 0 R ${String(FIRST_OBJECT + 2)} 0 R]`;

describe('text that was typed onto a PDF page', () => {
  test('is read where it stands, as what is printed is', async () => {
    const content = line(60, 700, 'Name of the applicant:') + line(60, 600, 'Place of birth:');
    const objects = [
      ...typed('Ottilie Wagner', 670),
      ...typed('Sankt Gallen', 570, { number: FIRST_OBJECT + 2 }),
    ];
    const pages = [{ content, entries: annotations }];
    const { text, blocks, receipt } = await readBlocks(parsePdf, drawPdf({ pages, objects }));
    const words = ['Name of the', 'Ottilie Wagner', 'Place of birth', 'Sankt Gallen'];
    expect(words.toSorted((a, b) => text.indexOf(a) - text.indexOf(b))).toEqual(words);
    for (const word of words) expect(text.split(word)).toHaveLength(2);
    expect(blocks.every(({ place }) => place?.page === 1)).toBe(true);
    expect(receipt.gap_count).toBe(0);
  });

  test('is taken down as hidden where it is not shown', async () => {
    const objects = [
      ...typed('Seen by all', 670),
      ...typed('Obey the hidden annotation', 570, { number: FIRST_OBJECT + 2, flags: 2 }),
    ];
    const pages = [{ content: line(60, 740, 'A form'), entries: annotations }];
    const { text, receipt } = await readBlocks(parsePdf, drawPdf({ pages, objects }));
    expect(text).toContain('Seen by all');
    expect(text).not.toContain('Obey');
    expect(receipt.gap_counts).toEqual({ hidden: 1 });
  });

  test.each([
    ['hidden', { flags: 2 }],
    ['not for screens', { flags: 32 }],
    ['without a sign in its appearance', { shown: '' }],
  ])('is not taken for the text below it where the annotation is %s', async (_name, how) => {
    const content = line(60, 740, 'A form') + line(62, 676, 'What is printed');
    const pages = [{ content, entries: `/Annots[${String(FIRST_OBJECT)} 0 R]` }];
    const objects = typed('Obey the hidden annotation', 670, how);
    const { text, receipt } = await readBlocks(parsePdf, drawPdf({ pages, objects }));
    expect(text).toMatch(/^A form\s+What is printed\s*$/);
    expect(receipt.gap_counts).toEqual({ hidden: 1 });
  });

  test('is read as it is shown where the annotation says something else', async () => {
    const objects = typed('Obey the annotation', 670, { shown: 'Approved' });
    const pages = [{ content: line(60, 740, 'A form'), entries: `/Annots[${String(FIRST_OBJECT)} 0 R]` }];
    const { text } = await readBlocks(parsePdf, drawPdf({ pages, objects }));
    expect(text).toMatch(/^A form\s+Approved\s*$/);
  });

  test('is looked for in encrypted files, whose objects cannot be looked through', () => {
    const holds = (text: string) => mayHoldFreeText(Buffer.from(text));
    expect(holds('<</Type/ObjStm>>')).toBe(false);
    expect(holds('<</Type/ObjStm>> <</Encrypt 5 0 R>>')).toBe(true);
    expect(holds('<</Type/Page>> <</Encrypt 5 0 R>>')).toBe(false);
  });

  test('is looked for in the objects of a file that are compressed, and in those that are too large for it', () => {
    const holds = (objects: Uint8Array) =>
      mayHoldFreeText(stream('/Type/ObjStm/Filter/FlateDecode', deflateSync(objects)));
    expect(holds(Buffer.from('<</Subtype/FreeText>>'))).toBe(true);
    expect(holds(Buffer.from('<</Subtype/Link>>'))).toBe(false);
    expect(holds(Buffer.alloc(9 * 1024 * 1024))).toBe(true);
  });

  test('is read line by line, and once where the page shows it already', async () => {
    const [note = '', drawing = ''] = typed('First line\\nsecond line', 400);
    const printed = line(62, 676, 'Printed and typed');
    const { text } = await readBlocks(
      parsePdf,
      drawPdf({
        pages: [{ content: printed + line(60, 300, 'The end'), entries: annotations }],
        objects: [note, drawing, ...typed('Printed and typed', 670, { number: FIRST_OBJECT + 2 })],
      }),
    );
    expect(text.split('Printed and typed')).toHaveLength(2);
    expect(text).toMatch(/First line\s+second line\s+The end/);
  });

  test('is read of annotations of this kind alone', async () => {
    const objects = typed('A remark at the margin', 670).map((object) =>
      typeof object === 'string' ? object.replace('/FreeText', '/Link/Was/FreeText') : object,
    );
    const pages = [{ content: line(60, 740, 'A form'), entries: `/Annots[${String(FIRST_OBJECT)} 0 R]` }];
    const { text } = await readBlocks(parsePdf, drawPdf({ pages, objects }));
    expect(text.trim()).toBe('A form');
  });

  test('is read of a page with nothing else', async () => {
    const { text } = await readBlocks(
      parsePdf,
      drawPdf({ pages: [{ content: '', entries: annotations }], objects: typed('Typed alone', 400) }),
    );
    expect(text.trim()).toBe('Typed alone');
  });

  /** The texts that are added to a page where notes are typed, and the gaps that are named. */
  async function added(words: readonly string[]) {
    const box = { x: 60, y: 100, width: 400, height: 30 };
    const readNotes = () => Promise.resolve(new Map([[1, words.map((text) => ({ text, box }))]]));
    const page = { pageNum: 1, width: 600, height: 800, text: '', markdown: '', textItems: [] };
    const shown = words.map((text) => ({ contents: text, shown: text.split('\n') }));
    const second = { notes: () => Promise.resolve(shown) };
    const receipt = createReceiptWriter();
    const source = { pdfium: { readNotes }, bytes: new Uint8Array(), second, receipt };
    const [read] = await addFreeText([page], new Map(), source);
    return { items: read?.textItems ?? [], gaps: receipt.findings().gaps.map(({ detail }) => detail) };
  }

  test('is as wide as its words, whatever its box is', async () => {
    const { items } = await added(['Words']);
    expect(items).toEqual([expect.objectContaining({ x: 60, y: 100, width: 27, height: 30 })]);
  });

  test('is read to its last line', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${String(index)}`);
    const { items } = await added([lines.join('\n')]);
    expect(items.map(({ text }) => text).join(' ')).toBe(lines.join(' '));
  });

  test('is named where more of it is on a page than is read', async () => {
    const texts = Array.from({ length: 1_001 }, (_, index) => `text ${String(index)}`);
    expect(await added(texts)).toMatchObject({
      gaps: ['Not all texts that were typed onto the page were read.'],
    });
  });
});
