import { expect, test } from '@jest/globals';
import { root } from '../../../../support/office-packages.js';
import { readBlocks } from '../../../../support/read-blocks.js';
import { SPACE, workbook } from '../../../../support/workbooks.js';

test('a sheet that the workbook names and the file lacks is a gap, and the others are read', async () => {
  const lost = '<sheet name="Lost" sheetId="9" r:id="rId9"/>';
  const book = (rows: string) =>
    workbook({
      sheets: [{ name: 'Kept', rows }],
      parts: {
        'xl/workbook.xml': root(
          'workbook',
          `<sheets><sheet name="Kept" sheetId="1" r:id="rId0"/>${lost}</sheets>`,
          SPACE,
        ),
      },
    });
  const found = await readBlocks('xlsx', book('<row r="1"><c r="A1"><v>7</v></c></row>'));
  expect(found.text).toContain('7');
  expect(found.gaps).toEqual(['unreadable: The sheet is missing in the file.']);
  expect(found.receipt).toMatchObject({ parts: 2, parts_read: 1 });
  await expect(readBlocks('xlsx', book(''))).rejects.toMatchObject({ code: 'corrupt' });
});
