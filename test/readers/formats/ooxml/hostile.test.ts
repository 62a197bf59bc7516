import { describe, expect, test } from '@jest/globals';
import { parseDocx } from '../../../../src/readers/formats/ooxml/docx.js';
import { parsePptx } from '../../../../src/readers/formats/ooxml/pptx.js';
import { parseXlsx } from '../../../../src/readers/formats/ooxml/xlsx.js';
import type { Parser } from '../../../../src/readers/parser.js';
import { officePackage, root } from '../../../support/office-packages.js';
import { processorMilliseconds, processorTimeOf } from '../../../support/processor-time.js';
import { readBlocks } from '../../../support/read-blocks.js';
import { grid, SPACE, text, workbook } from '../../../support/workbooks.js';
import { zipBomb } from '../../../support/zip-bomb.js';

interface Format {
  readonly name: string;
  readonly parse: Parser;
  /** A small file whose text is `canary`. */
  readonly small: Uint8Array;
  readonly mainPart: string;
}

const slide = (content: string): string =>
  root(
    'p:sld',
    `<p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${content}</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld>`,
  );
const document = (content: string): string =>
  root('w:document', `<w:body><w:p><w:r><w:t>${content}</w:t></w:r></w:p></w:body>`);

const FORMATS: readonly Format[] = [
  {
    name: 'Word',
    parse: parseDocx,
    small: officePackage({ parts: { 'word/document.xml': document('canary') } }),
    mainPart: 'word/document.xml',
  },
  {
    name: 'PowerPoint',
    parse: parsePptx,
    small: officePackage({
      parts: { 'ppt/presentation.xml': root('p:presentation', ''), 'ppt/slides/slide1.xml': slide('canary') },
    }),
    mainPart: 'ppt/presentation.xml',
  },
  {
    name: 'Excel',
    parse: parseXlsx,
    small: workbook({ sheets: [{ name: 'Data', rows: grid([['canary']]) }] }),
    mainPart: 'xl/workbook.xml',
  },
];

describe.each(FORMATS)('a hostile $name file', ({ name, parse, small, mainPart }) => {
  test('that is none of these is read', async () => {
    expect((await readBlocks(parse, small)).text).toContain('canary');
  });

  test('that claims a kilobyte and inflates to a gigabyte is stopped at its limit', async () => {
    const before = process.memoryUsage().rss;
    const bomb = zipBomb({ name: mainPart, start: '<a>', megabytes: 1_024 });
    await expect(readBlocks(parse, bomb)).rejects.toMatchObject({
      code: 'too_large',
      message: `The ${name} file is too large when unpacked: it has more than 256 MB.`,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(512 * 1024 * 1024);
  });

  test('of a hundred thousand nested elements is refused', async () => {
    const bytes = officePackage({ parts: { [mainPart]: root('a', '<w:p><x:r><p:sp>'.repeat(33_334)) } });
    await expect(readBlocks(parse, bytes)).rejects.toMatchObject({
      code: 'too_large',
      message: `The ${name} file nests elements more than 500 deep.`,
    });
  });

  test('that is cut off anywhere is corrupt', async () => {
    for (let share = 1; share < 20; share += 1)
      await expect(readBlocks(parse, small.subarray(0, (small.length * share) / 20))).rejects.toMatchObject({
        code: 'corrupt',
        message: `The ${name} file is damaged.`,
      });
  });

  test('that is encrypted, or of Office until 2003, says so', async () => {
    const compound = Buffer.from('d0cf11e0a1b11ae1', 'hex');
    const encrypted = Buffer.concat([compound, Buffer.from('EncryptedPackage', 'utf16le')]);
    await expect(readBlocks(parse, encrypted)).rejects.toMatchObject({
      code: 'encrypted',
      message: `The ${name} file is protected by a password.`,
    });
    await expect(readBlocks(parse, compound)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('with flipped bytes ends with a code or its text, never otherwise', async () => {
    for (let at = 0; at < small.length; at += 7) {
      const bytes = Uint8Array.from(small);
      bytes[at] = (bytes[at] ?? 0) ^ 0x55;
      const end = await readBlocks(parse, bytes).then(
        () => 'read',
        (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
      );
      expect(['read', 'ReadError']).toContain(end);
    }
  });
});

test('what an encrypted file without a telling name is, is not guessed', async () => {
  const bytes = Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);
  await expect(readBlocks(parseDocx, bytes, { filename: 'secret' })).rejects.toMatchObject({
    message: 'The Office file is protected by a password.',
  });
});

test('relations in a circle, to outside and above the package lead nowhere', async () => {
  const part = 'ppt/slides/slide1.xml';
  const bytes = officePackage({
    parts: { 'ppt/presentation.xml': root('p:presentation', ''), [part]: slide('canary') },
    relations: {
      [part]: [
        ['1', 'notesSlide', 'slide1.xml'],
        ['2', 'slideLayout', 'slide1.xml'],
        ['3', 'slideMaster', '../../../../../../etc/passwd'],
        ['4', 'comments', 'http://127.0.0.1:1/x'],
      ],
    },
  });
  expect((await readBlocks(parsePptx, bytes)).text).toBe('canary\n\n');
});

test('XML that ends too early is read as far as it goes, and named', async () => {
  const whole = document('canary');
  const bytes = officePackage({ parts: { 'word/document.xml': whole.slice(0, whole.indexOf('</w:body>')) } });
  const { text: read, gaps } = await readBlocks(parseDocx, bytes);
  expect(read).toBe('canary\n\n');
  expect(gaps).toEqual(['unreadable: The part word/document.xml ends too early.']);
});

test('a damaged part beside the text is named, and the text is read', async () => {
  const bytes = Buffer.from(
    officePackage({
      parts: { 'word/document.xml': document('canary'), 'docProps/core.xml': 'x'.repeat(5_000) },
    }),
  );
  const name = bytes.indexOf('docProps/core.xml');
  bytes.fill(0xff, name + 17, name + 25);
  const { text: read, gaps } = await readBlocks(parseDocx, bytes);
  expect(read).toBe('canary\n\n');
  expect(gaps).toEqual(['unreadable: The part docProps/core.xml is damaged.']);
});

/** An Excel file with ten rows for each hundred strings. */
function manyStrings(count: number): Uint8Array {
  const strings = Array.from({ length: count }, (_, index) => `<si><t>s${String(index)}</t></si>`);
  const cells = `<c t="s"><v>${String(count - 1)}</v></c><c><v>1</v></c>`.repeat(5);
  const rows = `<row>${cells}</row>`.repeat(count / 10);
  return officePackage({
    parts: {
      'xl/workbook.xml': root('workbook', '', SPACE),
      'xl/sharedStrings.xml': root('sst', strings.join(''), SPACE),
      'xl/worksheets/sheet1.xml': root('worksheet', `<sheetData>${rows}</sheetData>`, SPACE),
    },
  });
}

test('hundreds of thousands of shared strings and cells are read in a time that grows with their number', async () => {
  const [few, many] = [manyStrings(75_000), manyStrings(300_000)];
  // The first run compiles the code.
  await readBlocks(parseXlsx, few);
  const short = await processorTimeOf(() => readBlocks(parseXlsx, few));
  const before = processorMilliseconds();
  const { blocks } = await readBlocks(parseXlsx, many);
  // Four times as many take four times as long; what grows with the square would take sixteen times.
  expect((processorMilliseconds() - before) / short).toBeLessThan(9);
  expect(blocks).toHaveLength(30_001);
  expect(blocks.at(-1)).toMatchObject({ place: { sheet: 'Sheet1', row: 30_000 } });
  expect(blocks.at(-1)?.text).toContain('| s299999 | 1 |');
}, 300_000);

test('an Excel file of millions of empty shared strings is too large', async () => {
  const strings = Array.from({ length: 401 }, () => '</si><si>'.repeat(10_000));
  const bytes = workbook({ sheets: [{ name: 'Data', rows: `<row>${text('A1', 'x')}</row>` }], strings });
  await expect(readBlocks(parseXlsx, bytes)).rejects.toMatchObject({
    code: 'too_large',
    message: 'The Excel file has more than 4,000,000 shared strings.',
  });
}, 60_000);

test('one long text in all cells of a row is too large', async () => {
  const rows = `<row>${'<c t="s"><v>0</v></c>'.repeat(16_384)}</row>`;
  const bytes = workbook({
    sheets: [{ name: 'Data', rows: rows + `<row>${text('A2', 'x')}</row>` }],
    strings: [`<t>${'x'.repeat(32_000)}</t>`],
  });
  await expect(readBlocks(parseXlsx, bytes)).rejects.toMatchObject({
    code: 'too_large',
    message: 'The Excel file has more than 1,000,000 characters in a row.',
  });
});

test.each([
  { what: 'paragraphs', content: () => '<w:p/>'.repeat(5_000_000) },
  { what: 'runs', content: () => `<w:p>${'<w:r/>'.repeat(1_000_000)}</w:p>`.repeat(5) },
])(
  'a Word file of millions of empty $what is refused',
  async ({ content }) => {
    const bytes = officePackage({
      parts: { 'word/document.xml': root('w:document', `<w:body>${content()}</w:body>`) },
    });
    await expect(readBlocks(parseDocx, bytes)).rejects.toMatchObject({
      code: 'too_large',
      message: 'The Word file has more than 4,000,000 elements.',
    });
  },
  60_000,
);
