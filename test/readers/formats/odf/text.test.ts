import { describe, expect, test } from '@jest/globals';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { openDocumentFile } from '../../../support/open-documents.js';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const read = (body: string, styles = '', members: Record<string, string> = {}) =>
  readBlocks('odt', openDocumentFile('text', body, { styles, members }));
const paragraph = (text: string): string => `<text:p>${text}</text:p>`;
const cell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}>${paragraph(text)}</table:table-cell>`;
const row = (...cells: string[]): string => `<table:table-row>${cells.join('')}</table:table-row>`;

describe('a text of OpenDocument', () => {
  test('keeps headings with their levels, paragraphs and white space as it is meant', async () => {
    const { blocks, text } = await read(
      `<text:h text:outline-level="2">Method</text:h>${paragraph('one<text:s text:c="2"/>two<text:line-break/>three\n   four')}`,
    );
    expect(blocks[0]).toMatchObject({ text: 'Method\n\n', heading: 2 });
    expect(text).toBe('Method\n\none  two\nthree four\n\n');
  });

  test('whose content ends early is read as far as it goes, which is named, and fails where that is nothing', async () => {
    const cut = (member: string, from: string, keep = 0) => {
      const file = unzipSync(openDocumentFile('text', paragraph('one') + paragraph('two')));
      const xml = strFromU8(file[member] ?? strToU8(from));
      return readBlocks(
        'odt',
        zipSync({ ...file, [member]: strToU8(xml.slice(0, xml.indexOf(from) + keep)) }),
      );
    };
    const { text, gaps } = await cut('content.xml', 'two', 2);
    expect(text).toBe('one\n\ntw\n\n');
    expect(gaps).toEqual(['unreadable: The part content.xml ends too early.']);
    await expect(cut('content.xml', 'one')).rejects.toMatchObject({ code: 'corrupt' });
    const member = { 'styles.xml': '<office:document-styles><style:style/>' };
    expect((await read(paragraph('one'), '', member)).gaps).toEqual([
      'unreadable: The part styles.xml ends too early.',
    ]);
  });

  test('keeps right-to-left and Chinese text in the order of reading', async () => {
    const { text } = await read(paragraph('اللغة العربية') + paragraph('第一章 総則'));
    expect(text).toBe('اللغة العربية\n\n第一章 総則\n\n');
  });

  test('indents items of lists by their nesting', async () => {
    const inner = `<text:list><text:list-item>${paragraph('inner')}</text:list-item></text:list>`;
    const list = `<text:list><text:list-item>${paragraph('one')}${paragraph('more')}${inner}</text:list-item><text:list-item>${paragraph('two')}</text:list-item></text:list>`;
    expect((await read(list + paragraph('after'))).text).toBe('- one\n  more\n  - inner\n- two\n\nafter\n\n');
  });

  describe('numbers lists as the file says', () => {
    const item = (content: string, attributes = ''): string =>
      `<text:list-item ${attributes}>${content}</text:list-item>`;
    const list = (content: string, attributes = ''): string =>
      `<text:list text:style-name="L" ${attributes}>${content}</text:list>`;
    const level = (number: number, attributes: string): string =>
      `<text:list-level-style-number text:level="${String(number)}" ${attributes}/>`;
    const styles = `<text:list-style style:name="L">${level(1, 'style:num-format="1" style:num-suffix="."')}${level(
      2,
      'style:num-format="a" style:num-prefix="(" style:num-suffix=")"',
    )}${level(3, 'style:num-format="1" text:display-levels="3" text:start-value="5"')}</text:list-style>`;
    const nested = (content: string): string => `<text:list>${content}</text:list>`;

    test.each([
      ['from 1', list(item(paragraph('x')) + item(paragraph('y'))), '1. x\n2. y'],
      ['an item of two paragraphs once', list(item(paragraph('x') + paragraph('y'))), '1. x\n  y'],
      [
        'an item without text, too',
        list(item(paragraph('x')) + item(paragraph('')) + item(paragraph('z'))),
        '1. x\n3. z',
      ],
      [
        'lists within lists, which begin anew in each item',
        list(
          item(paragraph('x') + nested(item(paragraph('x1')) + item(paragraph('x2')))) +
            item(paragraph('y') + nested(item(paragraph('y1')))),
        ),
        '1. x\n  (a) x1\n  (b) x2\n2. y\n  (a) y1',
      ],
      [
        'with the numbers of the levels above, and from where they start',
        list(item(paragraph('x') + nested(item(paragraph('y') + nested(item(paragraph('z'))))))),
        '1. x\n  (a) y\n    1.a.5 z',
      ],
      [
        'from the value of an item',
        list(item(paragraph('x'), 'text:start-value="7"') + item(paragraph('y'))),
        '7. x\n8. y',
      ],
      [
        'anew in each list',
        `${list(item(paragraph('x')))}${paragraph('p')}${list(item(paragraph('y')))}`,
        '1. x\n\np\n\n1. y',
      ],
      [
        'on where a list is continued',
        `${list(item(paragraph('x')))}${paragraph('p')}${list(item(paragraph('y')), 'text:continue-numbering="true"')}`,
        '1. x\n\np\n\n2. y',
      ],
      [
        'on where a list is continued by its name, on a lower level, too',
        `${list(item(paragraph('x') + nested(item(paragraph('x1')))), 'xml:id="one"')}${paragraph('p')}${list(
          item(nested(item(paragraph('x2')))) + item(paragraph('y')),
          'text:continue-list="one"',
        )}`,
        '1. x\n  (a) x1\n\np\n\n  (b) x2\n2. y',
      ],
    ])('%s', async (_, body, expected) => {
      expect((await read(body, styles)).text.trimEnd()).toBe(expected);
    });
  });

  test('puts notes after their paragraph, and text boxes before it', async () => {
    const note =
      '<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p></text:note-body></text:note>';
    const box = `<draw:frame><draw:text-box>${paragraph('boxed')}</draw:text-box></draw:frame>`;
    expect((await read(paragraph(`begin${note} ${box}end`))).text).toBe(
      'boxed\n\nbegin[1] end\n\n[1] The note.\n\n',
    );
  });

  test('makes tables of rows, in which a cell is found by the names of its row and column', async () => {
    const table = `<table:table><table:table-header-rows>${row(cell('Fruit'), cell('Price'), cell('Origin'))}</table:table-header-rows>${row(cell('Apple'), cell('1.20'), cell('Bonn | Rhein'))}${row(cell('Pear'), cell('2.40'), cell('Trier'))}</table:table>`;
    const { blocks, text } = await read(table);
    expect(cellAt(text, 'Pear', 'Price')).toBe('2.40');
    expect(blocks.at(-1)?.row?.header).toContain('| Fruit | Price | Origin |');
  });

  test('repeats cells that reach over rows, and names of columns that reach over columns', async () => {
    const covered = '<table:covered-table-cell/>';
    const table = `<table:table><table:table-header-rows>${row(cell('Year', 'table:number-rows-spanned="2"'), cell('Sales', 'table:number-columns-spanned="2"'), covered)}${row(covered, cell('North'), cell('South'))}</table:table-header-rows>${row(cell('2019', 'table:number-rows-spanned="2"'), cell('5'), cell('6'))}${row(covered, cell('7'), cell('8'))}</table:table>`;
    expect((await read(table)).text).toBe(
      '| Year | Sales | Sales |\n| Year | North | South |\n| --- | --- | --- |\n| 2019 | 5 | 6 |\n| 2019 | 7 | 8 |\n\n',
    );
  });

  test('leaves out text of cells that others cover', async () => {
    const covered = cell('covered').replaceAll('table-cell', 'covered-table-cell');
    const table = `<table:table>${row(cell('wide', 'table:number-columns-spanned="2"'), covered)}${row(cell('a'), cell('b'))}</table:table>`;
    const { text, gaps } = await read(table);
    expect(text).not.toContain('covered');
    expect(gaps).toEqual(['hidden: 7 characters in cells that others cover were left out.']);
  });

  test('does not multiply a merged cell of many rows and columns', async () => {
    const rows = Array.from({ length: 2_000 }, () =>
      row(cell('x', 'table:number-rows-spanned="9999999" table:number-columns-spanned="9999999"'), cell('y')),
    );
    const { text } = await read(`<table:table>${rows.join('')}</table:table>`);
    expect(text.length).toBeLessThan(1_000_000);
  });

  test('has the headers of its pages once, and its title and language in the receipt', async () => {
    const members = {
      'styles.xml': `<office:document-styles xmlns:style="s" xmlns:text="t"><style:default-style style:family="paragraph"><style:text-properties fo:language="de" fo:country="DE"/></style:default-style><style:master-page><style:header><text:p>Letterhead</text:p></style:header><style:header-left><text:p>Letterhead</text:p></style:header-left><style:footer><text:p><text:page-number>7</text:page-number></text:p></style:footer></style:master-page></office:document-styles>`,
      'meta.xml': '<office:document-meta xmlns:dc="d"><dc:title>The title</dc:title></office:document-meta>',
    };
    const { text, receipt } = await read(paragraph('body'), '', members);
    expect(text).toBe('body\n\nLetterhead\n\n');
    expect(receipt).toMatchObject({ title: 'The title', language: 'de-DE', gap_count: 0 });
  });

  test('names embedded objects as skipped', async () => {
    const { receipt } = await read(paragraph('<draw:frame><draw:object/></draw:frame>text'));
    expect(receipt.gap_counts).toEqual({ skipped: 1 });
  });

  test('styles that are made from one another in a circle are followed to an end', async () => {
    const circle =
      '<style:style style:name="a" style:family="text" style:parent-style-name="b"/><style:style style:name="b" style:family="text" style:parent-style-name="a"/>';
    const body = paragraph('seen <text:span text:style-name="a">unseen</text:span>');
    expect((await read(body, circle)).text).toBe('seen unseen\n\n');
  });
});
