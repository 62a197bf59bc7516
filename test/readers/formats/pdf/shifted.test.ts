import { deflateSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line, lines, stream } from '../../../support/drawn-pdf.js';
import { cellAt, readBlocks } from '../../../support/read-blocks.js';

const READERS = [{}, { avoidsNativeCode: true }];

/** The text that both readers make of a page. */
async function bothRead(...content: string[]): Promise<string[]> {
  const file = drawPdf({ pages: [{ content: content.join('') }] });
  const read = READERS.map(async (options) => (await readBlocks(parsePdf, file, options)).text);
  return await Promise.all(read);
}

/** A line of parts in one text object; `^` before a part raises it, `_` lowers it, by text rise and a smaller size. */
function parts(x: number, y: number, ...texts: string[]): string {
  const shown = texts.map((text) => {
    const [sign] = text;
    const isShifted = sign === '^' || sign === '_';
    const rise = sign === '^' ? '3.6' : sign === '_' ? '-1.6' : '0';
    const shownText = (isShifted ? text.slice(1) : text).replace(/[()]/g, '\\$&');
    return `/F1 ${isShifted ? '7' : '10'} Tf ${rise} Ts (${shownText}) Tj`;
  });
  return `BT ${String(x)} ${String(y)} Td ${shown.join(' ')} ET\n`;
}

/** The same as reportlab writes it: shifted by half the size. */
const far = (x: number, y: number, ...texts: string[]): string =>
  parts(x, y, ...texts)
    .replaceAll('3.6 Ts', '5 Ts')
    .replaceAll('-1.6 Ts', '-5 Ts')
    .replaceAll('/F1 7 Tf', '/F1 8 Tf');

/** Widths in Helvetica, in thousandths of its size. */
const WIDTHS: Readonly<Record<string, number>> = { '-': 333, '+': 584, i: 222 };
const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + (WIDTHS[character] ?? 556), 0);

/** Texts with a lowered and a raised one at the same place behind them, as TeX sets them, the raised one first. */
function stacked(x: number, y: number, ...texts: readonly (readonly [string, string?, string?])[]): string {
  const shown = texts.map(([text, lowered = '', raised = '']) => {
    const [low, high] = [lowered, raised].map(widthOf);
    const back = [String(high), String(Math.min(0, (low ?? 0) - (high ?? 0)))];
    const over = `/F1 7 Tf 3.6 Ts (${raised}) Tj [${back[0] ?? ''}] TJ -1.6 Ts (${lowered}) Tj [${back[1] ?? ''}] TJ 0 Ts`;
    return `/F1 10 Tf (${text}) Tj ${lowered === '' ? '' : over}`;
  });
  return `BT ${String(x)} ${String(y)} Td ${shown.join(' ')} ET\n`;
}

describe('raised and lowered text of a PDF', () => {
  test('keeps powers, notes, formulas and ordinals apart from what they stand beside', async () => {
    const found = await bothRead(
      parts(
        72,
        700,
        'About 10',
        '^8',
        ' stars, 10',
        '^-3',
        ' m',
        '^2',
        ' of H',
        '_2',
        'O and x',
        '^n',
        ' remain.',
      ),
      parts(
        72,
        688,
        'In 1987',
        '^4',
        ' the mayors',
        '^2,3',
        ' met, as Young',
        '^15',
        ' says, for the 7',
        '^th',
        ' time.',
      ),
      parts(72, 676, '^9', ' See the annex.'),
    );
    for (const text of found) {
      expect(text).toContain('About 10⁸ stars, 10⁻³ m² of H₂O and x^n remain.');
      expect(text).toContain('In 1987⁴ the mayors²,³ met, as Young¹⁵ says, for the 7th time.');
      expect(text).toContain('⁹ See the annex.');
    }
  });

  test('is found where it is a text object of its own, after all others, and in packed streams', async () => {
    const content =
      lines(72, 700, ['The lake holds 10', 'and nothing else.']) + line(152, 703.6, '9', { size: 6.5 });
    const packed = deflateSync(content);
    const page = { content: '/X Do', resources: `/XObject<</X ${String(FIRST_OBJECT)} 0 R>>` };
    const form = (entries: string, data: Uint8Array) =>
      stream(`/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>${entries}`, data);
    const objects = [
      form('/Filter/FlateDecode', packed),
      form('/Filter[/ASCII85Decode/FlateDecode]', Buffer.from(toAscii85(packed))),
    ];
    for (const object of objects)
      for (const options of READERS) {
        const { text } = await readBlocks(parsePdf, drawPdf({ pages: [page], objects: [object] }), options);
        expect(text).toContain('The lake holds 10⁹\nand nothing');
      }
  });

  test('is read in headings and in cells of tables', async () => {
    const rules = [700, 680, 660].map((y) => `72 ${String(y)} m 272 ${String(y)} l S\n`).join('');
    const bars = [72, 172, 272].map((x) => `${String(x)} 660 m ${String(x)} 700 l S\n`).join('');
    const file = drawPdf({
      pages: [
        {
          content: [
            `BT 72 740 Td /F1 20 Tf (The age of CO) Tj /F1 13 Tf -4 Ts (2) Tj ET\n`,
            rules,
            bars,
            parts(76, 686, 'Area, km', '^2'),
            parts(176, 686, 'Value'),
            parts(76, 666, 'Lake'),
            parts(176, 666, '4*10', '^5'),
            lines(
              72,
              600,
              Array.from({ length: 9 }, () => 'words of an ordinary text follow here and on and on'),
            ),
          ].join(''),
        },
      ],
    });
    const { text, blocks } = await readBlocks(parsePdf, file);
    expect(blocks.find(({ heading }) => heading === 1)?.text).toContain('The age of CO₂');
    expect(cellAt(text, 'Lake', 'Value')).toBe('4*10⁵');
    expect(text).toContain('| Area, km² |');
  });

  test('keeps both where one is raised and one lowered at the same text', async () => {
    const found = await bothRead(
      parts(72, 700, 'The ion SO', '_4', '^2-', ' and C', '_60', '^3', ' and ', '^14', '_6', 'C stand here.'),
      far(
        72,
        670,
        'Then PO',
        '_4',
        '^3-',
        ' and U',
        '^2',
        '_1',
        ' and Ca',
        '_3',
        '(PO',
        '_4',
        ')',
        '_2',
        ' dissolve.',
      ),
      stacked(
        72,
        640,
        ['Here CO', '3', '2-'],
        [' and x', 'i', '2'],
        [' with NH', '4', '+'],
        [' are over it.'],
      ),
    );
    for (const text of found) {
      expect(text).toContain('The ion SO₄²⁻ and C₆₀³ and ¹⁴₆C stand here.');
      expect(text).toContain('Then PO₄³⁻ and U²₁ and Ca₃(PO₄)₂ dissolve.');
      expect(text).toContain('Here CO₃²⁻ and x_i² with NH₄⁺ are over it.');
    }
  });

  test('keeps both in cells of several lines, with lines around the cells and without', async () => {
    const cells = (x: number, y: number) =>
      [
        far(x, y, 'The ion SO', '_4', '^2-', ' is in water of'),
        far(x, y - 15, 'springs and PO', '_4', '^3-', ' is'),
        line(x, y - 30, 'found in most rivers.'),
        far(x, y - 50, 'U', '^2', '_1', ' and H', '_2', 'O are found in'),
        line(x, y - 65, 'every lake and sea.'),
      ].join('');
    const table = (top: number) =>
      [
        [line(76, top - 15, 'Name'), line(156, top - 15, 'Remark'), line(326, top - 15, 'Share')],
        [line(76, top - 65, 'Sulfate'), cells(156, top - 35), far(326, top - 65, '10', '^6')],
        [line(76, top - 100, 'Others'), far(326, top - 100, 'm', '^2')],
      ].flat(2);
    const across = [740, 720, 670, 630].map(
      (y) => `70 ${String(y)} m 400 ${String(y)} l S
`,
    );
    const down = [70, 150, 320, 400].map(
      (x) => `${String(x)} 630 m ${String(x)} 740 l S
`,
    );
    const content = [...across, ...down, ...table(740), ...table(500)].join('');
    const { text } = await readBlocks(parsePdf, drawPdf({ pages: [{ content }] }));
    const sulfate =
      '| Sulfate | The ion SO₄²⁻ is in water of springs and PO₄³⁻ is found in most rivers. | 10⁶ |';
    const others = '| Others | U²₁ and H₂O are found in every lake and sea. | m² |';
    expect(text.split('\n').filter((row) => row === sulfate)).toHaveLength(2);
    expect(text.split('\n').filter((row) => row === others)).toHaveLength(2);
  });

  test('is no smaller text on the same line, no large initial and no fraction', async () => {
    const found = await bothRead(
      `BT 72 720 Td /F1 10 Tf (N) Tj /F1 7.5 Tf (ATIONAL) Tj /F1 10 Tf ( P) Tj /F1 7.5 Tf (ARK) Tj ET\n`,
      line(72, 630, 'T', { size: 26 }),
      lines(89, 640, ['his page shows how harbours grow and', 'which of them lie on rivers that carry']),
      `BT 72 600 Td /F1 10 Tf (Take 3) Tj /F1 6 Tf 3.5 Ts (1) Tj /F1 10 Tf 0 Ts (/) Tj /F1 6 Tf (2) Tj /F1 10 Tf ( cups) Tj ET\n`,
    );
    for (const text of found) {
      expect(text).toContain('NATIONAL PARK');
      expect(text).toContain('his page shows how harbours grow and');
      expect(text).toContain('Take 3 1/2 cups');
      expect(text).not.toMatch(/[⁰¹²³⁴-⁹₀-₉^_]/);
    }
  });
});

function toAscii85(data: Uint8Array): string {
  let text = '';
  for (let at = 0; at < data.length; at += 4) {
    const part = data.subarray(at, at + 4);
    let value = [0, 1, 2, 3].reduce((sum, index) => sum * 256 + (part[index] ?? 0), 0);
    const signs: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      signs.unshift(String.fromCharCode(0x21 + (value % 85)));
      value = Math.floor(value / 85);
    }
    text +=
      value === 0 && signs.join('') === '!!!!!' && part.length === 4
        ? 'z'
        : signs.slice(0, part.length + 1).join('');
  }
  return `${text}~>`;
}
