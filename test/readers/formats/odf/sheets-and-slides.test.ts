import { describe, expect, test } from '@jest/globals';
import { zipSync, unzipSync } from 'fflate';
import { openDocumentFile } from '../../../support/open-documents.js';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
const row = (cells: readonly string[], attributes = ''): string =>
  `<table:table-row ${attributes}>${cells.join('')}</table:table-row>`;
const sheet = (name: string, content: string, attributes = ''): string =>
  `<table:table table:name="${name}" ${attributes}>${content}</table:table>`;
const read = (body: string, styles = '') =>
  readBlocks('ods', openDocumentFile('spreadsheet', body, { styles }));

describe('a spreadsheet of OpenDocument', () => {
  test('is read sheet by sheet, each row with its number and the names of its columns', async () => {
    const prices = sheet(
      'Prices',
      row([cell('Fruit'), cell('Price')]) +
        row([cell('Apple'), cell('1,20 €', 'office:value-type="float" office:value="1.2"')]) +
        row(['<table:table-cell/>'], 'table:number-rows-repeated="5"') +
        row([cell('Pear'), cell('2,40 €')]),
    );
    const { blocks, text, receipt } = await read(prices + sheet('Budget 2026', row([cell('1'), cell('2')])));
    expect(cellAt(text, 'Pear', 'Price')).toBe('2,40 €');
    expect(blocks[0]).toMatchObject({ text: 'Prices\n\n', heading: 1, isPart: true });
    expect(blocks.find((block) => block.text.includes('Pear'))).toMatchObject({
      place: { sheet: 'Prices', row: 8 },
      row: { header: '| Fruit | Price |\n| --- | --- |\n' },
    });
    expect(blocks.at(-2)).toMatchObject({ text: 'Budget 2026\n\n', heading: 1, isPart: true });
    expect(blocks.at(-1)).toMatchObject({ row: { header: '' }, place: { sheet: 'Budget 2026', row: 1 } });
    expect(receipt).toMatchObject({ unit: 'sheet', parts: 2, parts_read: 2, gap_count: 0 });
  });

  test('whose content ends early is read as far as it goes, which is named', async () => {
    const file = unzipSync(
      openDocumentFile('spreadsheet', sheet('A', row([cell('one')]) + row([cell('two')]))),
    );
    const xml = Buffer.from(file['content.xml'] ?? []).toString();
    const { text, gaps } = await readBlocks(
      'ods',
      zipSync({ ...file, 'content.xml': Buffer.from(xml.slice(0, xml.indexOf('two'))) }),
    );
    expect(text).toContain('one');
    expect(gaps).toEqual(['unreadable: The part content.xml ends too early.']);
  });

  test('keeps a title above the names of the columns apart from the table', async () => {
    const { blocks } = await read(
      sheet(
        'A',
        row([cell('Annual report')]) + row([cell('Year'), cell('Sum')]) + row([cell('2019'), cell('5')]),
      ),
    );
    expect(blocks.map(({ text }) => text)).toEqual([
      'A\n\n',
      'Annual report\n\n',
      '| Year | Sum |\n| --- | --- |\n',
      '| 2019 | 5 |\n\n',
    ]);
  });

  test('of millions of repeated rows and columns does not take more than the limit', async () => {
    const bomb = sheet(
      'A',
      row(
        [cell('x', 'table:number-columns-repeated="16384"')],
        'table:number-rows-repeated="1048576"',
      ).repeat(50),
    );
    const { text, receipt } = await read(bomb);
    expect(text.length).toBeLessThan(10_000_000);
    expect(receipt.gap_counts).toEqual({ limit: 1 });
    const blank = sheet('A', row([cell('x'), '<table:table-cell table:number-columns-repeated="16383"/>']));
    const rest = row(
      ['<table:table-cell table:number-columns-repeated="16384"/>'],
      'table:number-rows-repeated="1048575"',
    );
    expect((await read(blank + rest)).receipt.gap_count).toBe(0);
  });

  test('leaves out hidden sheets, rows and columns, and says so', async () => {
    const styles =
      '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>';
    const columns = '<table:table-column/><table:table-column table:visibility="collapse"/>';
    const body =
      sheet(
        'A',
        columns + row([cell('shown'), cell('column')]) + row([cell('row')], 'table:visibility="collapse"'),
      ) +
      sheet('B', row([cell('secret')]), 'table:style-name="ta2"') +
      sheet('C', '');
    const file = openDocumentFile('spreadsheet', body, { styles });
    const dropped = await readBlocks('ods', file);
    expect(dropped.text).toBe('A\n\n| shown |\n\n');
    expect(dropped.receipt).toMatchObject({ parts: 3, parts_read: 2, gap_counts: { hidden: 3, empty: 1 } });
    expect(dropped.receipt.gaps.find(({ reason }) => reason === 'empty')?.location).toEqual({ sheet: 'C' });
    const kept = await readBlocks('ods', file, { hiddenText: 'keep' });
    for (const word of ['column', 'row', 'secret']) expect(kept.text).toContain(word);
  });

  test('repeats cells that reach over rows in each of them', async () => {
    const covered = '<table:covered-table-cell table:number-columns-repeated="2"/>';
    const reaching = (text: string) => cell(text, 'table:number-rows-spanned="3"');
    const { text } = await read(
      sheet(
        'A',
        row([cell('Region'), cell('Year'), cell('Town'), cell('Herons')]) +
          row([reaching('North'), reaching('2026'), cell('Kiel'), cell('12')]) +
          row([covered, cell('Husum'), cell('7')]) +
          row([covered]) +
          row([cell('South'), cell('2025'), cell('Ulm'), cell('3')]),
      ),
    );
    expect(text.trim().split('\n').slice(4)).toEqual([
      '| North | 2026 | Kiel | 12 |',
      '| North | 2026 | Husum | 7 |',
      '| South | 2025 | Ulm | 3 |',
    ]);
  });

  test('names charts and other objects that are not read, with their sheet', async () => {
    const chart = '<table:shapes><draw:frame><draw:object/><draw:image/></draw:frame></table:shapes>';
    const { receipt } = await read(sheet('Sums', chart + row([cell('a'), cell('b')])));
    expect(receipt.gaps).toEqual([
      { reason: 'skipped', detail: 'An embedded object is not read.', location: { sheet: 'Sums' } },
    ]);
  });

  test('leaves out comments on cells', async () => {
    const { text, receipt } = await read(
      sheet(
        'A',
        row([
          `<table:table-cell><office:annotation><text:p>aside</text:p></office:annotation><text:p>5</text:p></table:table-cell>`,
        ]),
      ),
    );
    expect(text).toBe('A\n\n| 5 |\n\n');
    expect(receipt.gap_counts).toEqual({ hidden: 1 });
  });
});

describe('a presentation of OpenDocument', () => {
  const frame = (text: string, attributes = ''): string =>
    `<draw:frame ${attributes}><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame>`;
  const slide = (content: string, attributes = ''): string =>
    `<draw:page ${attributes}>${content}</draw:page>`;
  const notes = (text: string): string => `<presentation:notes>${frame(text)}</presentation:notes>`;

  test('is read slide by slide, with titles, tables and notes', async () => {
    const table = `<draw:frame><table:table>${row([cell('Name'), cell('Age')])}${row([cell('Ann'), cell('42')])}</table:table></draw:frame>`;
    const first = slide(
      frame('The title', 'presentation:class="title"') + frame('A point') + notes('Say hello'),
    );
    const { blocks, text, receipt } = await readBlocks(
      'odp',
      openDocumentFile('presentation', first + slide('') + slide(table)),
    );
    expect(blocks.slice(0, 3)).toEqual([
      { text: 'The title\n\n', heading: 1, place: { slide: 1 } },
      { text: 'A point\n\n', place: { slide: 1 } },
      { text: 'Notes: Say hello\n\n', place: { slide: 1 } },
    ]);
    expect(cellAt(text, 'Ann', 'Age')).toBe('42');
    expect(blocks.at(-1)?.place).toEqual({ slide: 3 });
    expect(receipt).toMatchObject({
      unit: 'slide',
      parts: 3,
      parts_read: 3,
      gaps: [{ reason: 'empty', location: { slides: { first: 2, last: 2 } } }],
    });
  });

  test('leaves out hidden slides, and says so', async () => {
    const styles =
      '<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>';
    const body = slide(frame('shown')) + slide(frame('secret'), 'draw:style-name="dp2"');
    const { text, receipt } = await readBlocks('odp', openDocumentFile('presentation', body, { styles }));
    expect(text).toBe('shown\n\n');
    expect(receipt).toMatchObject({ parts: 2, parts_read: 1, gap_counts: { hidden: 1 } });
  });
});

describe('an OpenDocument file', () => {
  test('that is encrypted, cut off or empty fails alone with its code', async () => {
    const manifest =
      '<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>';
    const encrypted = openDocumentFile('text', '', { members: { 'META-INF/manifest.xml': manifest } });
    await expect(readBlocks('odt', encrypted)).rejects.toMatchObject({
      code: 'encrypted',
      message: 'The OpenDocument file is protected by a password.',
    });
    const whole = openDocumentFile('text', '<text:p>text</text:p>');
    await expect(readBlocks('odt', whole.subarray(0, whole.length / 2))).rejects.toMatchObject({
      code: 'corrupt',
    });
    const { 'content.xml': content, ...others } = unzipSync(whole);
    expect(content).toBeDefined();
    await expect(readBlocks('odt', zipSync(others))).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('of thousands of nested elements is read', async () => {
    const depth = 5_000;
    const nested =
      '<text:list><text:list-item>'.repeat(depth) +
      '<text:p>deep</text:p>' +
      '</text:list-item></text:list>'.repeat(depth);
    expect((await readBlocks('odt', openDocumentFile('text', nested))).text).toContain('deep');
    const tables = '<table:table><table:table-row><table:table-cell>'.repeat(depth) + '<text:p>deep</text:p>';
    expect((await readBlocks('odt', openDocumentFile('text', tables))).text).toContain('deep');
  });
});
