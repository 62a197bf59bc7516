import { officePackage, root, type Relation } from './office-packages.js';

/** The default namespace of the parts of a workbook. */
export const SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

export interface Sheet {
  readonly name: string;
  readonly rows: string;
  readonly before?: string;
  readonly after?: string;
  readonly state?: string;
  readonly relations?: readonly Relation[];
}

export interface Book {
  readonly sheets: readonly Sheet[];
  readonly strings?: readonly string[];
  readonly styles?: string;
  readonly properties?: string;
  readonly parts?: Record<string, string>;
}

const sheetPart = (index: number): string => `xl/worksheets/sheet${String(index + 1)}.xml`;

/** An Excel file. */
export function workbook({
  sheets,
  strings = [],
  styles = '',
  properties = '',
  parts = {},
}: Book): Uint8Array {
  const tabs = sheets.map(
    ({ name, state = 'visible' }, index) =>
      `<sheet name="${name}" sheetId="${String(index + 1)}" state="${state}" r:id="rId${String(index)}"/>`,
  );
  const written = sheets.map(({ before = '', rows, after = '' }, index): [string, string] => [
    sheetPart(index),
    root('worksheet', `${before}<sheetData>${rows}</sheetData>${after}`, SPACE),
  ]);
  const relations = sheets.map((sheet, index): [string, readonly Relation[]] => [
    sheetPart(index),
    sheet.relations ?? [],
  ]);
  return officePackage({
    parts: {
      'xl/workbook.xml': root('workbook', `${properties}<sheets>${tabs.join('')}</sheets>`, SPACE),
      'xl/sharedStrings.xml': root('sst', strings.map((text) => `<si>${text}</si>`).join(''), SPACE),
      'xl/styles.xml': root('styleSheet', styles, SPACE),
      ...Object.fromEntries(written),
      ...parts,
    },
    relations: {
      '': [['rId1', 'officeDocument', 'xl/workbook.xml']],
      'xl/workbook.xml': [
        ['s1', 'sharedStrings', 'sharedStrings.xml'],
        ['s2', 'styles', 'styles.xml'],
        ...sheets.map((_, index): Relation => [`rId${String(index)}`, 'worksheet', `/${sheetPart(index)}`]),
      ],
      ...Object.fromEntries(relations),
    },
  });
}

/** A cell with a text. */
export const text = (reference: string, content: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${content}</t></is></c>`;
/** A cell with a number. */
export const number = (reference: string, value: number | string, style = 0): string =>
  `<c r="${reference}" s="${String(style)}"><v>${String(value)}</v></c>`;
/** Rows from the first, of cells from column A; null leaves one out. */
export const grid = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows
    .map((cells, row) => {
      const written = cells.map((value, column) => {
        const reference = `${String.fromCharCode(65 + column)}${String(row + 1)}`;
        if (value === null) return '';
        return typeof value === 'number' ? number(reference, value) : text(reference, value);
      });
      return `<row r="${String(row + 1)}">${written.join('')}</row>`;
    })
    .join('');
