import { describe, expect, test } from '@jest/globals';
import { officePackage, root } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { text, workbook } from '../../../support/workbooks.js';

const word = (rows: string): Uint8Array =>
  officePackage({
    parts: { 'word/document.xml': root('w:document', `<w:body><w:tbl>${rows}</w:tbl></w:body>`) },
  });
const wordCell = (content: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr><w:p><w:r><w:t>${content}</w:t></w:r></w:p></w:tc>`;
const RESTART = '<w:vMerge w:val="restart"/>';
const CONTINUED = '<w:vMerge/>';

const slides = (tree: string): Uint8Array =>
  officePackage({
    parts: {
      'ppt/presentation.xml': root('p:presentation', ''),
      'ppt/slides/slide1.xml': root('p:sld', `<p:cSld><p:spTree>${tree}</p:spTree></p:cSld>`),
    },
  });
const slideTable = (rows: string): Uint8Array =>
  slides(
    `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
  );
const slideCell = (content: string, attributes = ''): string =>
  `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${content}</a:t></a:r></a:p></a:txBody></a:tc>`;

describe.each([
  {
    format: 'docx' as const,
    bytes: word(
      `<w:tr>${wordCell('Name')}${wordCell('Above', RESTART)}</w:tr><w:tr>${wordCell('Ann')}${wordCell('covered', CONTINUED)}</w:tr>`,
    ),
  },
  {
    format: 'pptx' as const,
    bytes: slideTable(
      `<a:tr>${slideCell('Name')}${slideCell('Above', 'rowSpan="2"')}</a:tr><a:tr>${slideCell('Ann')}${slideCell('covered', 'vMerge="1"')}</a:tr>`,
    ),
  },
  {
    format: 'xlsx' as const,
    bytes: workbook({
      sheets: [
        {
          name: 'Data',
          rows: `<row r="1">${text('B1', 'Above')}</row><row r="3">${text('A3', 'Ann')}${text('B3', 'covered')}</row>`,
          after: '<mergeCells><mergeCell ref="B1:C4"/></mergeCells>',
        },
      ],
    }),
  },
  {
    format: 'pptx' as const,
    bytes: slideTable(
      `<a:tr>${slideCell('Name')}${slideCell('Age')}</a:tr><a:tr>${slideCell('Ann', 'gridSpan="2"')}${slideCell('covered', 'hMerge="1"')}</a:tr>`,
    ),
  },
])('text of $format in a cell that another one covers', ({ format, bytes }) => {
  test('is left out and named as hidden', async () => {
    const read = await readBlocks(format, bytes);
    expect(read.text).not.toContain('covered');
    expect(read.gaps).toEqual(['hidden: 7 characters in cells that others cover were left out.']);
  });

  test('is read where hidden text is kept', async () => {
    const read = await readBlocks(format, bytes, { hiddenText: 'keep' });
    expect(read.text).toContain('covered');
    expect(read.gaps).toEqual([]);
  });
});

test('rows of a Word table of one column are left out like others', async () => {
  const grid = '<w:tblGrid><w:gridCol/></w:tblGrid>';
  const deleted = '<w:trPr><w:del w:id="1"/></w:trPr>';
  const bytes = word(
    `${grid}<w:tr>${wordCell('Above', RESTART)}</w:tr><w:tr>${wordCell('covered', CONTINUED)}</w:tr><w:tr>${deleted}${wordCell('deleted')}</w:tr>`,
  );
  const { text: read, gaps } = await readBlocks('docx', bytes);
  expect(read).toBe('Above\n\n');
  expect(gaps).toEqual([
    'hidden: 7 characters in cells that others cover were left out.',
    'hidden: 7 characters of tracked deletions were left out.',
  ]);
  const kept = await readBlocks('docx', bytes, { hiddenText: 'keep' });
  expect(kept.text).toBe('Above\n\ncovered\n\ndeleted\n\n');
});

test('a cell of Word that goes on from none above has its own text', async () => {
  const bytes = word(`<w:tr>${wordCell('one', CONTINUED)}${wordCell('two')}</w:tr>`);
  const { text: read, gaps } = await readBlocks('docx', bytes);
  expect(read).toContain('one');
  expect(gaps).toEqual([]);
});

test.each([
  [
    'docx' as const,
    word(`<w:tr>${wordCell('wide', '<w:gridSpan w:val="1000"/>')}${wordCell('last')}</w:tr>`.repeat(2)),
  ],
  [
    'pptx' as const,
    slideTable(`<a:tr>${slideCell('wide', 'gridSpan="1000"')}${slideCell('last')}</a:tr>`.repeat(2)),
  ],
])('a cell of %s behind one that covers all columns is read', async (format, bytes) => {
  const { text: read } = await readBlocks(format, bytes);
  expect(read.match(/last/g)).toHaveLength(2);
});

test('cells of Excel in the same place, or in none that is known, are all read', async () => {
  const cells = ['', '1A', '$A$1', 'A0'].map((place, index) => text(place, `cell ${String(index)}`));
  const bytes = workbook({ sheets: [{ name: 'Data', rows: `<row r="1">${cells.join('')}</row>` }] });
  const { text: read } = await readBlocks('xlsx', bytes);
  for (const index of cells.keys()) expect(read).toContain(`cell ${String(index)}`);
});

test('a cell of Excel that begins a merged cell, or comes after those over it, is read', async () => {
  const ranges = ['A1:C3', 'B2:B4', 'C4:D4'].map((range) => `<mergeCell ref="${range}"/>`);
  const rows = [1, 2, 3, 4, 5].map((row) => {
    const cells = ['A', 'B', 'C', 'D'].map((column) =>
      text(`${column}${String(row)}`, `in ${column}${String(row)}`),
    );
    return `<row r="${String(row)}">${cells.join('')}</row>`;
  });
  const bytes = workbook({
    sheets: [{ name: 'Data', rows: rows.join(''), after: `<mergeCells>${ranges.join('')}</mergeCells>` }],
  });
  const { text: read } = await readBlocks('xlsx', bytes);
  const found = new Set(read.match(/in [A-D]\d/g));
  const covered = ['B1', 'C1', 'A2', 'C2', 'A3', 'B3', 'C3', 'B4', 'D4'];
  for (const place of covered) expect(found).not.toContain(`in ${place}`);
  expect(found.size).toBe(20 - covered.length);
});

test('a slide with more shapes than a function may have arguments is read', async () => {
  const shape = '<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>';
  const bytes = slides(
    `<mc:AlternateContent><mc:Choice>${shape.repeat(150_000)}</mc:Choice></mc:AlternateContent>`,
  );
  const { blocks } = await readBlocks('pptx', bytes);
  expect(blocks.length).toBeGreaterThanOrEqual(150_000);
}, 60_000);
