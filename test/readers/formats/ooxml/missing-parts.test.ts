import { expect, test } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { SPACE, workbook } from '../../../support/workbooks.js';

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

test('cells that refer to a text that the file lacks are a gap of their sheet with their number', async () => {
  const shared = (cell: string, value: string) => `<c r="${cell}" t="s">${value}</c>`;
  const { text, gaps, receipt } = await readBlocks(
    'xlsx',
    workbook({
      sheets: [
        {
          name: 'One',
          rows: `<row r="1">${shared('A1', '<v>0</v>')}${shared('B1', '<v>1</v>')}${shared('C1', '<v>x</v>')}${shared('D1', '')}</row>`,
        },
        { name: 'Two', rows: `<row r="1"><c r="A1"><v>7</v></c>${shared('B1', '<v>9</v>')}</row>` },
      ],
      strings: ['<t>kept</t>'],
    }),
  );
  expect(text).toContain('kept');
  expect(gaps).toEqual([
    'unreadable: 2 cells whose text is missing in the file were left out.',
    'unreadable: 1 cell whose text is missing in the file was left out.',
  ]);
  expect(receipt.gaps.map(({ location }) => location)).toEqual([{ sheet: 'One' }, { sheet: 'Two' }]);
});

test('a slide that the presentation names and the file lacks is a gap with its number', async () => {
  const ids = [1, 2, 3].map((id) => `<p:sldId id="${String(id)}" r:id="r${String(id)}"/>`).join('');
  const shape = '<p:sp><p:txBody><a:p><a:r><a:t>The third</a:t></a:r></a:p></p:txBody></p:sp>';
  const file = officePackage({
    parts: {
      'ppt/presentation.xml': root('p:presentation', `<p:sldIdLst>${ids}</p:sldIdLst>`),
      'ppt/slides/slide3.xml': root('p:sld', `<p:cSld><p:spTree>${shape}</p:spTree></p:cSld>`),
    },
    relations: {
      '': [['r1', 'officeDocument', 'ppt/presentation.xml']],
      'ppt/presentation.xml': [
        ['r2', 'slide', 'slides/slide2.xml'],
        ['r3', 'slide', 'slides/slide3.xml'],
      ],
    },
  });
  const { text, receipt } = await readBlocks('pptx', file);
  expect(text).toContain('The third');
  expect(receipt).toMatchObject({ parts: 3, parts_read: 1, gap_counts: { unreadable: 2 } });
  expect(receipt.gaps.map(({ location }) => location?.slides?.first)).toEqual([1, 2]);
});
