import type { Fill } from '../../visibility/layers.js';
import { createUnmerge, MAX_COLUMNS, type SpanningCell } from '../drawing/merged-cells.js';
import { wholeNumberOrZero, childOf, childrenOf, descend, valueOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement, XmlEvent } from '../xml/stream-xml.js';
import type { GapCounter } from '../gap-counter.js';
import { cellInControl, readControl } from './form-fields.js';
import type { WordStyles } from './styles.js';
import type { Surroundings } from './word-reader.js';

interface RowOptions {
  readonly gaps: GapCounter;
  readonly styles: WordStyles;
  /** Makes the content of a cell one text. */
  readonly flatten: (cell: XmlElement, inside: Surroundings) => string;
}

export interface TableRow {
  readonly element: XmlElement;
  /** True if the table has a single column. */
  readonly isFrame: boolean;
  readonly cells: readonly { readonly element: XmlElement; readonly inside: Surroundings }[];
}

/** Takes the rows of a table out of events, from behind its beginning to its end. */
export function createRowReader(events: Iterator<XmlEvent>, surroundings: Surroundings, options: RowOptions) {
  const unmerge = createUnmerge((text) => options.gaps.hidden.accepts('merged', { text }));
  let properties: XmlElement | undefined;
  let columns = Infinity;
  let isAtEnd = false;
  const next = (): TableRow | undefined => {
    // Behind the end of the table, the events belong to the content that follows it.
    if (isAtEnd) return undefined;
    const element = nextRow(events, (found) => {
      if (found.name === 'w:tblPr') properties = found;
      else columns = [...childrenOf(found, 'w:gridCol')].length;
    });
    isAtEnd = !element;
    if (!element) return undefined;
    const cells = [...cellsOf(element, options.gaps)].map((cell) => {
      const ground =
        cellFill(cell, { row: element, table: properties }, options.styles) ?? surroundings.ground;
      return { element: cell, inside: { ground, isCell: surroundings.isCell } };
    });
    return { element, isFrame: columns === 1 && !surroundings.isCell, cells };
  };
  const textsOf = (row: TableRow): { cells: string[] }[] => {
    const texts = unmerge(spanningCells(row, options));
    const isKept = !isDeleted(row) || options.gaps.hidden.accepts('deleted', { text: texts.join('') });
    return isKept ? [{ cells: texts }] : [];
  };
  let isBelow = false;
  return {
    next,
    /** The cells of a row of a frame that are read. */
    inFrame(row: TableRow): TableRow['cells'] {
      const kind = isDeleted(row) ? 'deleted' : isBelow ? 'merged' : undefined;
      isBelow = true;
      return kind === undefined ? row.cells : row.cells.filter((cell) => isRead(cell, kind, options));
    },
    /** The rows as texts, first the rows that have been taken already. */
    *texts(ahead: readonly TableRow[]): Iterable<{ cells: string[] }> {
      for (const row of ahead) yield* textsOf(row);
      for (let row = next(); row; row = next()) yield* textsOf(row);
    },
  };
}

interface CellPlace {
  readonly row: XmlElement;
  /** The properties of its table. */
  readonly table: XmlElement | undefined;
}

/**
 * Returns the fill of a cell itself; undefined for none. It is known where the cell states it. The fill by its row, its
 * table or their style depends on the place of the cell, and on the program that shows it.
 */
function cellFill(cell: XmlElement, { row, table }: CellPlace, styles: WordStyles): Fill | undefined {
  const { colors } = styles;
  const own = colors.shading(descend(cell, 'w:tcPr', 'w:shd'));
  if (own !== undefined && own !== 'none') return own;
  const isFilled = [childOf(row, 'w:tblPrEx'), table].some((properties) => {
    const whole = colors.shading(childOf(properties, 'w:shd'));
    return whole !== undefined && whole !== 'none';
  });
  // The ground under a table with a place of its own is not followed.
  const isPlaced = childOf(table, 'w:tblpPr') !== undefined;
  return isFilled || isPlaced || styles.dressesCells(valueOf(table, 'w:tblStyle')) ? 'unknown' : undefined;
}

export const isHeaderRow = (row: XmlElement | undefined): boolean => {
  const header = descend(row, 'w:trPr', 'w:tblHeader');
  return header !== undefined && header.attributes['w:val'] !== '0' && header.attributes['w:val'] !== 'false';
};

/** Tells whether a cell of a frame is read, whose row is deleted, or which may go on from the one above. */
function isRead(
  { element, inside }: TableRow['cells'][number],
  kind: 'deleted' | 'merged',
  { flatten, gaps }: RowOptions,
): boolean {
  if (kind === 'merged' && !isContinued(element)) return true;
  const text = flatten(element, inside);
  return text === '' || gaps.hidden.accepts(kind, { text });
}

const isDeleted = ({ element }: TableRow): boolean => descend(element, 'w:trPr', 'w:del') !== undefined;

/** Tells whether a cell goes on from the one above. */
function isContinued(cell: XmlElement): boolean {
  const merge = valueOf(childOf(cell, 'w:tcPr'), 'w:vMerge');
  return merge !== undefined && merge !== 'restart';
}

function nextRow(events: Iterator<XmlEvent>, meet: (element: XmlElement) => void): XmlElement | undefined {
  for (let next = events.next(); next.done !== true; next = events.next()) {
    const event = next.value;
    if (event.type === 'close' && event.name === 'w:tbl') return undefined;
    if (event.type !== 'element') continue;
    if (event.element.name === 'w:tr') return event.element;
    if (event.element.name === 'w:tblPr' || event.element.name === 'w:tblGrid') meet(event.element);
  }
  return undefined;
}

/** Yields the cells of a row, including cells within content controls. */
function* cellsOf(element: XmlElement, gaps: GapCounter): Iterable<XmlElement> {
  for (const child of childrenOf(element)) {
    if (child.name === 'w:tc') yield child;
    else if (child.name === 'w:sdt') {
      const control = readControl(childOf(child, 'w:sdtPr'));
      if (control.isEmpty) gaps.skip('field');
      for (const cell of cellsOf({ ...child, name: '' }, gaps)) yield cellInControl(cell, control);
    } else if (['w:sdtContent', 'w:customXml', 'w:smartTag', 'w:ins'].includes(child.name))
      yield* cellsOf(child, gaps);
  }
}

function spanningCells({ element: row, cells }: TableRow, { flatten }: RowOptions): SpanningCell[] {
  const before = wholeNumberOrZero(valueOf(childOf(row, 'w:trPr'), 'w:gridBefore'), MAX_COLUMNS);
  const skipped = Array.from({ length: Math.max(0, before) }, () => ({
    text: '',
    span: 1,
    isContinued: false,
  }));
  const read = cells.map(({ element, inside }) => {
    const properties = childOf(element, 'w:tcPr');
    return {
      text: flatten(element, { ...inside, isCell: true }),
      span: Math.max(1, wholeNumber(valueOf(properties, 'w:gridSpan'), MAX_COLUMNS) ?? 1),
      isContinued: isContinued(element),
    };
  });
  return [...skipped, ...read];
}
