import { expect, test } from '@jest/globals';
import { readBlocks } from '../../../support/read-blocks.js';
import { workbook } from '../../../support/workbooks.js';

test.each([
  ['# ?/?', 1.75, '1 3/4'],
  ['# ?/?', 0.3, '2/7'],
  ['# ??/??', 3.14159265, '3 14/99'],
  ['# ???/???', 3.14159265, '3 16/113'],
  ['# ?/?', -0.5, '-1/2'],
  ['# ?/?', 0, '0'],
  ['# ?/?', 4, '4'],
  ['# ?/?', 2.99, '3'],
  ['?/?', 1.5, '3/2'],
  ['0 ?/?', 0.25, '0 1/4'],
  ['# ?/4', 2.5, '2 2/4'],
  ['# ??/16', 0.3, '5/16'],
  ['# ??/100', 1.07, '1 7/100'],
  ['# ?/?" in"', 2.5, '2 1/2 in'],
])('the format %s shows %d as %s', async (format, value, shown) => {
  const bytes = workbook({
    sheets: [{ name: 'Data', rows: `<row r="2"><c r="B2" s="1"><v>${String(value)}</v></c></row>` }],
    styles: `<numFmts><numFmt numFmtId="200" formatCode="${format.replace(/"/g, '&quot;')}"/></numFmts><cellXfs><xf/><xf numFmtId="200"/></cellXfs>`,
  });
  expect((await readBlocks('xlsx', bytes)).text).toBe(`Data\n\n${shown}\n\n`);
});
