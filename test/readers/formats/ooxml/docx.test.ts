import { describe, expect, test } from '@jest/globals';
import type { ReadOptions } from '../../../../src/readers/read-options.js';
import { parseDocx } from '../../../../src/readers/formats/ooxml/docx.js';
import { officePackage, root, type Relation } from '../../../support/office-packages.js';
import { readBlocks } from '../../../support/read-blocks.js';

/** Parts of a Word file by the type of their relation, with the name of their root element. */
const ROOTS = {
  styles: 'w:styles',
  numbering: 'w:numbering',
  footnotes: 'w:footnotes',
  comments: 'w:comments',
  header: 'w:hdr',
  footer: 'w:ftr',
} as const;
type PartType = keyof typeof ROOTS;

function word(body: string, parts: Partial<Record<PartType, string>> = {}): Uint8Array {
  const types = (Object.keys(parts) as PartType[]).filter((type) => parts[type] !== undefined);
  const written = types.map((type): [string, string] => [
    `word/${type}.xml`,
    root(ROOTS[type], parts[type] ?? ''),
  ]);
  return officePackage({
    parts: {
      'word/document.xml': root('w:document', `<w:body>${body}</w:body>`),
      ...Object.fromEntries(written),
    },
    relations: {
      '': [['rId1', 'officeDocument', 'word/document.xml']],
      'word/document.xml': types.map((type): Relation => [type, type, `${type}.xml`]),
    },
  });
}

const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content.startsWith('<') ? content : run(content)}</w:p>`;
const cell = (content: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${content.startsWith('<') ? content : paragraph(content)}</w:tc>`;
const table = (rows: readonly (readonly string[])[], { header = 0, columns = 2 } = {}): string =>
  `<w:tbl><w:tblGrid>${'<w:gridCol/>'.repeat(columns)}</w:tblGrid>${rows
    .map(
      (cells, index) =>
        `<w:tr>${index < header ? '<w:trPr><w:tblHeader/></w:trPr>' : ''}${cells.join('')}</w:tr>`,
    )
    .join('')}</w:tbl>`;

const read = (bytes: Uint8Array, options: Partial<ReadOptions> = {}) => readBlocks(parseDocx, bytes, options);
const textOf = async (...args: Parameters<typeof word>): Promise<string> => (await read(word(...args))).text;

describe('headings', () => {
  const style = (id: string, name: string, more = ''): string =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${more}</w:style>`;
  const styled = (id: string, text: string): string => paragraph(text, `<w:pStyle w:val="${id}"/>`);

  test('are those of styles, of styles based on them, and of outline levels', async () => {
    const styles =
      style('H1', 'heading 1', '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>') +
      style('Own', 'My heading', '<w:basedOn w:val="H1"/>') +
      style('T', 'Title');
    const outlined = paragraph('Outlined', '<w:outlineLvl w:val="2"/>');
    const body =
      styled('T', 'Title') + styled('H1', 'One') + styled('Own', 'Own') + outlined + paragraph('text');
    const { blocks } = await read(word(body, { styles }));
    expect(blocks.map(({ text, heading }) => [text, heading])).toEqual([
      ['Title\n\n', 1],
      ['One\n\n', 1],
      ['Own\n\n', 1],
      ['Outlined\n\n', 3],
      ['text\n\n', undefined],
    ]);
  });

  test('of styles that are based on each other in a circle end there', async () => {
    const styles =
      style('A', 'a', '<w:basedOn w:val="B"/>') + style('B', 'heading 2', '<w:basedOn w:val="A"/>');
    const { blocks } = await read(word(styled('A', 'One'), { styles }));
    expect(blocks).toEqual([{ text: 'One\n\n', heading: 2 }]);
  });
});

test('lists keep their nesting, their numbers and where they begin anew', async () => {
  const level = (index: number, format: string, text: string): string =>
    `<w:lvl w:ilvl="${String(index)}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering = `<w:abstractNum w:abstractNumId="0">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%1.%2)')}</w:abstractNum><w:abstractNum w:abstractNumId="1">${level(0, 'bullet', '•')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>`;
  const item = (text: string, list: number, at = 0): string =>
    paragraph(text, `<w:numPr><w:ilvl w:val="${String(at)}"/><w:numId w:val="${String(list)}"/></w:numPr>`);
  const body = [
    item('one', 1),
    item('inner', 1, 1),
    item('inner too', 1, 1),
    item('two', 1),
    item('inner again', 1, 1),
    paragraph('between'),
    item('point', 2),
    item('anew', 3),
  ].join('');
  expect(await textOf(body, { numbering })).toBe(
    '1. one\n  1.a) inner\n  1.b) inner too\n2. two\n  2.a) inner again\n\nbetween\n\n- point\n1. anew\n\n',
  );
});

describe('tables', () => {
  test('end where they end, also when all their rows are headers', async () => {
    const text = await textOf(
      table([[cell('a'), cell('b')]], { header: 1 }) +
        paragraph('between') +
        table([[cell('c'), cell('d')]], { header: 1 }) +
        paragraph('after'),
    );
    expect(text).toBe('| a | b |\n| --- | --- |\n\nbetween\n\n| c | d |\n| --- | --- |\n\nafter\n\n');
  });

  test('have a header of several rows, merged cells in each row, and notes behind them', async () => {
    const reference = '<w:r><w:footnoteReference w:id="2"/></w:r>';
    const rows = [
      [cell('Region', '<w:vMerge w:val="restart"/>'), cell('Sales', '<w:gridSpan w:val="2"/>')],
      [cell('', '<w:vMerge/>'), cell('2019'), cell('2020')],
      [cell('North', '<w:vMerge w:val="restart"/>'), cell('1'), cell(paragraph(run('2') + reference))],
      [cell('', '<w:vMerge/>'), cell('3'), cell('4')],
    ];
    const footnotes = `<w:footnote w:id="2">${paragraph('Estimated.')}</w:footnote>`;
    const { text, blocks } = await read(
      word(table(rows, { header: 2, columns: 3 }) + paragraph('after'), { footnotes }),
    );
    expect(text).toBe(
      '| Region | Sales | Sales |\n| Region | 2019 | 2020 |\n| --- | --- | --- |\n| North | 1 | 2[1] |\n| North | 3 | 4 |\n\n[1] Estimated.\n\nafter\n\n',
    );
    expect(blocks[3]?.row?.header).toBe(
      '| Region | Sales | Sales |\n| Region | 2019 | 2020 |\n| --- | --- | --- |\n',
    );
  });

  test('within tables are written in their cell, and a frame of one cell does not count', async () => {
    const inner = table([
      [cell('a'), cell('b')],
      [cell('c'), cell('d')],
    ]);
    const outer = table([
      [cell('Name'), cell('Values')],
      [cell('x'), cell(inner + paragraph(''))],
    ]);
    expect(await textOf(outer)).toBe('| Name | Values |\n| --- | --- |\n| x | a, b; c, d |\n\n');
    expect(await textOf(table([[cell(paragraph('framed') + inner)]], { columns: 1 }))).toBe(
      'framed\n\n| a | b |\n| --- | --- |\n| c | d |\n\n',
    );
  });
});

test('notes follow the paragraph that refers to them, and text boxes theirs, once', async () => {
  const box = `<w:txbxContent>${paragraph('in a box')}</w:txbxContent>`;
  const drawing = `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>${box}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>${box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`;
  const note = '<w:r><w:footnoteReference w:id="1"/></w:r>';
  const footnotes = `<w:footnote w:id="0" w:type="separator">${paragraph('-')}</w:footnote><w:footnote w:id="1">${paragraph(run('A note.') + note)}</w:footnote>`;
  const control = `<w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent>${paragraph('in a control')}</w:sdtContent></w:sdt>`;
  expect(await textOf(paragraph(run('text') + note + drawing) + control, { footnotes })).toBe(
    'text[1]\n\nin a box\n\n[1] A note.[1]\n\nin a control\n\n',
  );
});

test('the first of several branches that tell the same is read, whatever they are called', async () => {
  const branches = (names: readonly string[], write: (text: string) => string): string =>
    `<mc:AlternateContent>${names
      .map((name, index) => `<mc:${name}>${write(String(index + 1))}</mc:${name}>`)
      .join('')}</mc:AlternateContent>`;
  const nested = (text: string): string => branches(['Choice', 'Choice'], (inner) => run(text + inner));
  for (const names of [['Choice', 'Choice', 'Fallback'], ['Fallback'], ['Choice', 'Fallback']]) {
    const branched = branches(names, (text) => paragraph(text));
    expect(await textOf(branched + paragraph('after'))).toBe('1\n\nafter\n\n');
    expect(await textOf(paragraph(branches(names, (text) => run(text))))).toBe('1\n\n');
    expect(await textOf(paragraph(branches(names, nested)))).toBe('11\n\n');
  }
});

test('a dropped initial stands before its word, and a dropped word before the next one', async () => {
  const frame = (kind: string): string => `<w:framePr w:dropCap="${kind}" w:lines="3" w:wrap="around"/>`;
  const body =
    paragraph('H', frame('drop')) +
    paragraph('erons stand.') +
    paragraph('Once', frame('margin')) +
    paragraph(' they flew.');
  expect(await textOf(body)).toBe('Herons stand.\n\nOnce they flew.\n\n');
});

test('the texts of shapes stand apart', async () => {
  const shapes = ['Plan', 'Do']
    .map((word) => `<a:sp><a:p><a:r><a:t>${word}</a:t></a:r></a:p></a:sp>`)
    .join('');
  const drawing = `<w:r><w:drawing><a:graphic>${shapes}</a:graphic></w:drawing></w:r>`;
  expect(await textOf(paragraph(run('before') + drawing + run('after')))).toBe('before\nPlan\nDo\nafter\n\n');
});

test('results of fields are read, their instructions are not', async () => {
  const mark = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const field = `${mark('begin')}${run('IF x ')}${mark('begin')}${run('y')}${mark('end')}${mark('separate')}${run('result')}${mark('end')}`;
  expect(await textOf(paragraph(run('a ') + field + run(' b')))).toBe('a result b\n\n');
});

test('heads and feet of pages follow once, without numbers of pages', async () => {
  const counts = ['Page 3 of 7', 'Seite 3 von 7', '3', '3/7', 'p. 3'].map((line) => paragraph(line)).join('');
  const foot = counts + paragraph('ACME') + paragraph('Section 2');
  expect(await textOf(paragraph('text'), { header: paragraph('ACME'), footer: foot })).toBe(
    'text\n\nACME\n\nSection 2\n\n',
  );
});

describe('what nobody sees', () => {
  const white = '<w:color w:val="FFFFFF"/>';
  const comment = '<w:r><w:commentReference w:id="1"/></w:r>';
  const body = [
    paragraph(run('seen ') + run('vanished', '<w:vanish/>') + run('again', '<w:vanish w:val="0"/>')),
    paragraph(run('white words', white) + run('tiny', '<w:sz w:val="2"/>')),
    paragraph(run('on black', `${white}<w:shd w:val="clear" w:fill="000000"/>`)),
    paragraph(run('on a dark paragraph', white), '<w:shd w:val="clear" w:fill="112233"/>'),
    paragraph(
      `<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:ins>${run('inserted')}</w:ins>${comment}`,
    ),
  ].join('');
  const bytes = word(body, { comments: `<w:comment w:id="1">${paragraph('a remark')}</w:comment>` });

  test('is left out and named, one gap for each kind', async () => {
    const { text, gaps } = await read(bytes);
    expect(text).toBe('seen again\n\non black\n\non a dark paragraph\n\ninserted\n\n');
    expect(gaps).toEqual([
      'hidden: 8 characters of hidden text were left out.',
      'hidden: 11 characters in the colour of their background were left out.',
      'hidden: 4 characters smaller than 2 points were left out.',
      'hidden: 7 characters of tracked deletions were left out.',
      'hidden: 1 comment was left out.',
    ]);
  });

  test('is read with the options keep and flag', async () => {
    const kept = await read(bytes, { hiddenText: 'keep' });
    for (const phrase of ['vanished', 'white words', 'tiny', 'deleted', 'Comment: a remark'])
      expect(kept.text).toContain(phrase);
    expect(kept.gaps).toEqual([]);
    const flagged = await read(bytes, { hiddenText: 'flag' });
    expect(flagged.text).toBe(kept.text);
    expect(flagged.gaps).toHaveLength(5);
  });
});

test('a file with other prefixes, in the strict variant, is read as any', async () => {
  const body = root('w:document', `<w:body>${paragraph('text')}${table([[cell('a'), cell('b')]])}</w:body>`)
    .replace(/(<\/?)w:/g, '$1ns0:')
    .replace(
      'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
      'xmlns:ns0="http://purl.oclc.org/ooxml/wordprocessingml/main"',
    );
  const { text } = await read(officePackage({ parts: { 'word/document.xml': body } }));
  expect(text).toBe('text\n\n| a | b |\n| --- | --- |\n\n');
});
