import { expect, test } from '@jest/globals';
import { columnLetters } from '../../../../src/readers/formats/ooxml/sheets/cell-references.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { text, workbook } from '../../../support/workbooks.js';

const ROWS = 100;

/** The rows of a table whose first one has cells `top1`, `top2` and so on, some of them merged with all below; the others have one. */
async function rowsOf({ columns, merged }: { columns: number; merged: number }): Promise<string[]> {
  const letters = Array.from({ length: columns }, (_, index) => columnLetters(index + 1));
  const last = letters.at(-1) ?? '';
  const first = letters.map((letter, index) => text(`${letter}1`, `top${String(index + 1)}`)).join('');
  const others = Array.from({ length: ROWS - 1 }, (_, index) => index + 2).map(
    (row) => `<row r="${String(row)}">${text(`${last}${String(row)}`, `row${String(row)}`)}</row>`,
  );
  const cells = letters
    .slice(0, merged)
    .map((letter) => `<mergeCell ref="${letter}1:${letter}${String(ROWS)}"/>`);
  const bytes = workbook({
    sheets: [
      {
        name: 'Data',
        rows: `<row r="1">${first}</row>${others.join('')}`,
        after: `<mergeCells>${cells.join('')}</mergeCells>`,
      },
    ],
  });
  const { text: read } = await readBlocks('xlsx', bytes);
  return read.split('\n');
}

function rowWith(rows: readonly string[], mark: string): string {
  const found = rows.find((row) => row.includes(`| ${mark} |`));
  if (found === undefined) throw new Error(`no row with ${mark}`);
  return found;
}

test('merged cells are repeated in the rows that they cover until many columns were looked at', async () => {
  const rows = await rowsOf({ columns: 500, merged: 200 });
  // Each row costs 200 merged cells in 500 columns, of 5 million in all.
  for (const mark of ['row2', 'row40']) expect(rowWith(rows, mark)).toContain('| top200 |');
  for (const mark of ['row60', 'row99']) expect(rowWith(rows, mark)).not.toContain('top');
});

test('no more merged cells than a number are repeated in a row', async () => {
  const row = rowWith(await rowsOf({ columns: 250, merged: 240 }), 'row2');
  expect(row).toContain('| top200 |');
  expect(row).not.toContain('top201');
});
