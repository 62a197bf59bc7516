import type { LayoutCell, ParsedPage, Rect, TextItem } from '@llamaindex/liteparse';
import { describe, expect, test } from '@jest/globals';
import { withItems } from '../../../../src/readers/formats/pdf/with-items.js';

const box = (x: number, y: number, width = 60): Rect => ({ x, y, width, height: 10 });
const item = (text: string, x: number, y: number): TextItem => ({ text, x, y, width: 10, height: 10 });

/** A page with a table of two columns, 100 points apart, and of rows that are 20 points high. */
function pageOf(...rows: LayoutCell[][]): ParsedPage {
  const [header = [], ...others] = rows;
  const bbox = { x: 0, y: 0, width: 200, height: rows.length * 20 };
  return {
    pageNum: 1,
    width: 600,
    height: 800,
    text: '',
    markdown: '',
    textItems: [item('Name', 0, 0)],
    blocks: [
      { kind: 'paragraph', text: 'Before' },
      { kind: 'table', bbox, header, rows: others },
    ],
  };
}

const page = pageOf(
  [
    { text: 'Name', bbox: box(0, 0) },
    { text: 'Count', bbox: box(100, 0) },
  ],
  [{ text: 'Apples', bbox: box(0, 20) }, { text: '' }],
  [
    { text: 'Pears', bbox: box(20, 40) },
    { text: '12', bbox: box(100, 40) },
  ],
);

const textsOf = ({ blocks = [] }: ParsedPage): (string | undefined)[][] => {
  const { header = [], rows = [] } = blocks[1] ?? {};
  return [header, ...rows].map((row) => row.map(({ text }) => text));
};

describe('texts that are added to a PDF page', () => {
  test('stand in the cells of its tables where they are: alone, before and after what is there', () => {
    const added = [item('7', 110, 20), item('3', 0, 40), item('kg', 165, 40)];
    const found = withItems(page, added);
    expect(textsOf(found)).toEqual([
      ['Name', 'Count'],
      ['Apples', '7'],
      ['3 Pears', '12 kg'],
    ]);
    expect(found.textItems).toEqual([...page.textItems, ...added]);
  });

  test('are kept among its texts when they stand in no row of a table', () => {
    const added = [item('between', 0, 31), item('beside', 400, 20)];
    const found = withItems(page, added);
    expect(textsOf(found)).toEqual(textsOf(page));
    expect(found.textItems).toEqual([...page.textItems, ...added]);
  });
});
