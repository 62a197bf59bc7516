import { attribute } from '../../xml/read-markup.js';
import { WHITE, type Color } from '../../visibility/colors.js';
import { colorOfFill, type Fill } from '../../visibility/layers.js';
import type { GapCounter } from '../gap-counter.js';
import { tooLarge } from '../package/office-kind.js';
import type { OfficePackage } from '../package/office-package.js';
import { wholeNumberOrZero, childOf, childrenOf, isTrue, textOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { cellReference, LAST_COLUMN, type CellRange } from './cell-references.js';
import {
  createHiddenPlaces,
  createNeighbours,
  readableText,
  type CellText,
  type DressedCells,
} from './readable-text.js';
import type { DateSystem } from './date-format.js';
import { generalNumber } from './number-format.js';
import { richRuns } from './shared-strings.js';
import type { CellStyle, SheetStyles } from './styles.js';

const MAX_CELLS = 5_000_000;
const MAX_ROW_CHARACTERS = 1_000_000;
/** The day 1970-01-01 in the system of 1900. */
const UNIX_EPOCH = 25_569;
const DAY = 86_400_000;

export interface Workbook {
  readonly office: OfficePackage;
  readonly strings: readonly CellText[];
  readonly styles: SheetStyles;
  readonly system: DateSystem;
  readonly gaps: GapCounter;
}

export interface SheetCell {
  readonly column: number;
  /** The text that the cell shows; never blank. */
  readonly text: string;
  readonly isNumber: boolean;
  readonly isBold: boolean;
}

export interface SheetRow {
  readonly number: number;
  /** In the order of their columns. */
  readonly cells: readonly SheetCell[];
}

interface SheetPlace {
  readonly part: string;
  readonly sheet: string;
  readonly dressed: DressedCells;
  readonly merged: readonly CellRange[];
}

/** Reads the rows of a sheet as a stream, without rows that show nothing. @throws ReadError when there are too many cells */
export function* readRows(
  workbook: Workbook,
  { part, sheet, dressed, merged }: SheetPlace,
): Iterable<SheetRow> {
  const { office, gaps } = workbook;
  const places = createHiddenPlaces({ gaps, sheet, merged });
  const neighbours = createNeighbours((style) => workbook.styles.cell(style).fill);
  const open = { ...workbook, sheet };
  let count = 0;
  let number = 0;
  for (const event of office.stream(part, (name) => name === 'x:row' || name === 'x:cols')) {
    if (event.type !== 'element') continue;
    const { element } = event;
    if (element.name === 'x:cols') {
      places.readColumns(element);
      neighbours.readColumns(element);
      continue;
    }
    const stated = wholeNumberOrZero(element.attributes['r'], 1_048_576);
    number = stated >= 1 ? stated : number + 1;
    const mayDiffer = neighbours.inRow(element);
    const found = readCells(open, element, (column, fill) => dressed(column, number) || mayDiffer(fill));
    const cells = found.filter((cell) => places.admits(cell, number));
    count += cells.length;
    if (count > MAX_CELLS)
      throw tooLarge(office.kind, `has more than ${MAX_CELLS.toLocaleString('en')} cells in a sheet`);
    const shown = cells.length === 0 ? cells : places.readable(element, number, cells);
    if (shown.length > 0) yield { number, cells: shown };
  }
}

/** A workbook with the name of the sheet that is read. */
type OpenWorkbook = Workbook & { readonly sheet: string };

function readCells(
  workbook: OpenWorkbook,
  row: XmlElement,
  isDressed: (column: number, fill: Fill) => boolean,
): SheetCell[] {
  const cells = new Map<number, SheetCell>();
  let column = 0;
  let length = 0;
  for (const cell of childrenOf(row, 'x:c')) {
    column = cellReference(attribute(cell.attributes, 'r'))?.column ?? column + 1;
    if (column > LAST_COLUMN) break;
    const own = column;
    const style = workbook.styles.cell(wholeNumberOrZero(cell.attributes['s']));
    const { text: found, isNumber, color } = cellValue(workbook, cell, style);
    const font = color === undefined ? style.font : { ...style.font, color };
    const ground = {
      behind: () => (style.fill === 'none' ? WHITE : colorOfFill(style.fill)),
      isElsewhere: () => isDressed(own, style.fill),
    };
    const text = readableText(found, font, ground, workbook.gaps);
    if (text.trim() === '') continue;
    length += text.length;
    if (length > MAX_ROW_CHARACTERS)
      throw tooLarge(
        workbook.office.kind,
        `has more than ${MAX_ROW_CHARACTERS.toLocaleString('en')} characters in a row`,
      );
    // A file may have several cells in one place.
    const before = cells.get(column);
    cells.set(column, {
      column,
      text: before ? `${before.text} ${text}` : text,
      isNumber,
      isBold: style.isBold,
    });
  }
  return [...cells.values()].sort((a, b) => a.column - b.column);
}

interface Shown {
  readonly text: CellText;
  readonly isNumber: boolean;
  /** The colour that its number format gives it. */
  readonly color?: Color | undefined;
}

function cellValue(workbook: OpenWorkbook, cell: XmlElement, style: CellStyle): Shown {
  const value = textOf(childOf(cell, 'x:v'));
  const { gaps, styles } = workbook;
  switch (cell.attributes['t']) {
    case 's':
      return formatted(sharedText(workbook, value), style, gaps);
    case 'inlineStr':
      return formatted(
        richRuns(childOf(cell, 'x:is'), (properties) => styles.font(properties)),
        style,
        gaps,
      );
    case 'str':
      return formatted(value, style, gaps);
    case 'b':
      return words(value === '' ? '' : isTrue(value.trim()) ? 'TRUE' : 'FALSE');
    case 'e':
      return words(value);
    case 'd':
      return dateValue(value, style, workbook.system);
    default:
      if (value === '' && childOf(cell, 'x:f')) gaps.skip('formula');
      return numberValue(value, style, gaps);
  }
}

/** @param index the place of the text among the texts that cells share */
function sharedText({ strings, gaps, sheet }: OpenWorkbook, index: string): CellText {
  const text = strings[wholeNumber(index) ?? -1];
  if (text === undefined && index.trim() !== '') gaps.lose('text', { sheet });
  return text ?? '';
}

/** Formats a text. All formats but hiding ones show a text in runs as it is. */
function formatted(text: CellText, { format }: CellStyle, gaps: GapCounter): Shown {
  const plain = typeof text === 'string' ? text : text.map((run) => run.text).join('');
  const shown = format.text(plain);
  if (shown.trim() === '') return words(admitted(plain, gaps));
  return words(shown === plain ? text : shown);
}

/** Returns a text that its number format hides if hidden text is read; else an empty one. */
const admitted = (text: string, gaps: GapCounter): string =>
  text.trim() !== '' && gaps.hidden.accepts('format', { text }) ? text : '';

const words = (text: CellText): Shown => ({ text, isNumber: false });

function numberValue(value: string, { format }: CellStyle, gaps: GapCounter): Shown {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return words(value);
  const shown = format.number(number);
  // Formats often leave out zeros, which hides nothing.
  const isHidden = shown.trim() === '' && number !== 0;
  const text = isHidden ? admitted(generalNumber(number), gaps) : shown;
  return { text, isNumber: true, color: format.colorOf(number) };
}

/** A date of the strict variant is in the form of ISO 8601. */
function dateValue(value: string, { format }: CellStyle, { is1904 }: DateSystem): Shown {
  const time = /^\d{4}-\d\d-\d\d/.test(value)
    ? Date.parse(value.length > 10 ? `${value.replace(/Z$/, '')}Z` : value)
    : NaN;
  if (Number.isNaN(time)) return words(value);
  const serial = time / DAY + UNIX_EPOCH - (is1904 ? 1462 : 0);
  const text = format.number(serial);
  // Without a format for dates the number of days says nothing.
  return {
    text: text === generalNumber(serial) ? value.replace(/T00:00:00(?:\.0+)?Z?$/, '') : text,
    isNumber: true,
  };
}
