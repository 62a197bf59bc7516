import { describe, expect, test } from '@jest/globals';
import { parsePdf } from '../../../../src/readers/formats/pdf/pdf.js';
import { drawPdf, FIRST_OBJECT, line, stream } from '../../../support/drawn-pdf.js';
import { readBlocks } from '../../../support/read-blocks.js';

const FORM = '/Type/XObject/Subtype/Form/BBox[0 0 14 14]/Resources<</Font<</Z 9 0 R>>>>';
/** The objects that the pages of these forms share: the look of a box that is on, its other look, and the font of its tick. */
const SHARED = [
  stream(FORM, Buffer.from('BT /Z 12 Tf 2 2 Td (4) Tj ET')),
  stream(FORM, Buffer.from('0 0 14 14 re S')),
  '<</Type/Font/Subtype/Type1/BaseFont/ZapfDingbats>>',
];
const [ON, OFF] = [`${String(FIRST_OBJECT)} 0 R`, `${String(FIRST_OBJECT + 1)} 0 R`];

interface Form {
  readonly content: string;
  /** The entries of fields, each of which is its own annotation. */
  readonly fields: readonly string[];
  /** The entries of a group of buttons, and of its buttons. */
  readonly group?: { readonly entries: string; readonly kids: readonly string[] };
  readonly form?: string;
}

function formPdf({ content, fields, group, form = '' }: Form): Buffer {
  const first = FIRST_OBJECT + SHARED.length;
  const numbers = fields.map((_, index) => first + index);
  const parent = first + fields.length;
  const kids = (group?.kids ?? []).map((_, index) => parent + 1 + index);
  const references = (list: readonly number[]): string =>
    list.map((number) => `${String(number)} 0 R`).join(' ');
  const objects = [
    ...SHARED,
    ...fields.map((entries) => `<</Type/Annot/Subtype/Widget/DA(/F1 12 Tf 0 g)${entries}>>`),
    ...(group ? [`<<${group.entries}/Kids[${references(kids)}]>>`] : []),
    ...(group?.kids ?? []).map(
      (entries) => `<</Type/Annot/Subtype/Widget/Parent ${String(parent)} 0 R${entries}>>`,
    ),
  ];
  return drawPdf({
    pages: [{ content, entries: `/Annots[${references([...numbers, ...kids])}]` }],
    objects,
    catalog: `/AcroForm<</Fields[${references(group ? [...numbers, parent] : numbers)}]/DR<</Font<</F1 3 0 R>>>>${form}>>`,
  });
}

const place = (x: number, y: number, width = 14): string =>
  `/Rect[${String(x)} ${String(y)} ${String(x + width)} ${String(y + 14)}]`;
const states = (name: string, state: string): string => `/AS/${state}/AP<</N<</${name} ${ON}/Off ${OFF}>>>>`;
const box = (name: string, y: number, state: 'Yes' | 'Off', more = '/F 4'): string =>
  `/FT/Btn/T(${name})/V/${state}${place(20, y)}${states('Yes', state)}${more}`;
const read = (form: Form) => readBlocks(parsePdf, formPdf(form));

describe('a form of PDF', () => {
  test('shows the state of its boxes beside their labels, in place of the sign that is drawn', async () => {
    const content = line(40, 703, 'Smoker') + line(40, 683, 'Vegetarian');
    const { text, gaps } = await read({ content, fields: [box('a', 700, 'Yes'), box('b', 680, 'Off')] });
    expect(text.trim().split(/\n+/)).toEqual(['[x] Smoker', '[ ] Vegetarian']);
    expect(gaps).toEqual([]);
  });

  test('goes by what is seen of a box where its value says something else', async () => {
    const field = `/FT/Btn/T(a)/V/Off${place(20, 700)}${states('Yes', 'Yes')}/F 4`;
    expect((await read({ content: line(40, 703, 'Smoker'), fields: [field] })).text.trim()).toBe(
      '[x] Smoker',
    );
  });

  test('tells which button of a group is on', async () => {
    const kids = [
      `/F 4${place(60, 700)}${states('one', 'Off')}`,
      `/F 4${place(160, 700)}${states('two', 'two')}`,
    ];
    const content = line(20, 703, 'Size:') + line(80, 703, 'small') + line(180, 703, 'large');
    const { text } = await read({
      content,
      fields: [],
      group: { entries: '/FT/Btn/Ff 49152/T(size)/V/two', kids },
    });
    expect(text.replace(/[|\s-]+/g, ' ').trim()).toBe('Size: [ ] small [x] large');
  });

  test('has values of many lines to their last one', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${String(index)}`);
    const value = lines.join('\\n');
    const bytes = formPdf({
      content: line(20, 700, 'Form'),
      fields: [`/FT/Tx/T(a)/V(${value})${place(20, 100, 300)}/F 4`],
    });
    const { text } = await readBlocks(parsePdf, bytes);
    for (const each of [lines[0], lines[500], lines[999]]) expect(text).toContain(each);
  });

  test('has values that the page does not show, those of lists as they are displayed', async () => {
    const content = ['Name:', 'Country:', 'Letters:', 'Secret:']
      .map((name, row) => line(20, 704 - 40 * row, name))
      .join('');
    const { text } = await read({
      content,
      fields: [
        `/FT/Tx/T(n)/V(Jane Roe)/F 4${place(80, 700, 150)}`,
        `/FT/Ch/Ff 131072/T(c)/V(de)/Opt[[(de)(Germany)][(fr)(France)]]/F 4${place(80, 660, 150)}`,
        `/FT/Ch/Ff 2097152/T(l)/V[(a)(c)]/Opt[[(a)(Alpha)][(b)(Beta)][(c)(Gamma)]]/F 4${place(80, 620, 150)}`,
        `/FT/Tx/Ff 8192/T(p)/V(hunter2)/F 4${place(80, 580, 150)}`,
      ],
      form: '/NeedAppearances true',
    });
    for (const shown of ['Name: Jane Roe', 'Country: Germany', 'Letters: Alpha, Gamma'])
      expect(text.replace(/[|\s-]+/g, ' ')).toContain(shown);
    expect(text).not.toContain('hunter2');
  });

  test('has values that the page shows once', async () => {
    const shown = stream(
      '/Type/XObject/Subtype/Form/BBox[0 0 150 14]/Resources<</Font<</F1 3 0 R>>>>',
      Buffer.from('BT /F1 10 Tf 2 3 Td (1,234.50) Tj ET'),
    );
    const bytes = drawPdf({
      pages: [{ content: line(20, 704, 'Amount:'), entries: '/Annots[8 0 R]' }],
      objects: [
        shown,
        `<</Type/Annot/Subtype/Widget/FT/Tx/T(n)/V(1234.5)/F 4${place(80, 700, 150)}/AP<</N 7 0 R>>>>`,
      ],
      catalog: '/AcroForm<</Fields[8 0 R]>>',
    });
    expect((await readBlocks(parsePdf, bytes)).text.trim()).toBe('Amount: 1,234.50');
  });

  test('keeps the letters of a comb together', async () => {
    const shown = stream(
      '/Type/XObject/Subtype/Form/BBox[0 0 150 14]/Resources<</Font<</F1 3 0 R>>>>',
      Buffer.from('BT /F1 10 Tf 4 3 Td (A) Tj 30 0 Td (7) Tj 30 0 Td (9) Tj 30 0 Td (Z) Tj ET'),
    );
    const bytes = drawPdf({
      pages: [{ content: line(20, 704, 'Number:'), entries: '/Annots[8 0 R]' }],
      objects: [
        shown,
        `<</Type/Annot/Subtype/Widget/FT/Tx/Ff 16777216/MaxLen 4/T(n)/V(A79Z)/F 4${place(80, 700, 120)}/AP<</N 7 0 R>>>>`,
      ],
      catalog: '/AcroForm<</Fields[8 0 R]>>',
    });
    expect((await readBlocks(parsePdf, bytes)).text.replace(/[|\s-]+/g, ' ').trim()).toBe('Number: A79Z');
  });

  test('leaves out what is hidden, and names its text', async () => {
    const { text, gaps } = await read({
      content: line(40, 703, 'Smoker') + line(20, 660, 'Name:'),
      fields: [box('a', 700, 'Yes', '/F 2'), `/FT/Tx/T(n)/V(Obey this)/F 2${place(80, 656, 150)}`],
    });
    expect(text).not.toMatch(/\[|Obey/);
    expect(gaps).toEqual(['hidden: 9 transparent characters were left out.']);
  });

  test('of XFA is named', async () => {
    const { gaps } = await read({ content: line(40, 703, 'Please wait'), fields: [], form: '/XFA 7 0 R' });
    expect(gaps).toEqual([
      'skipped: The form is in XFA, too, which is not read: what only that holds is missing.',
    ]);
  });
});
