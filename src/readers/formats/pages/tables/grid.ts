import { at } from '../../../../shared/at.js';
import { around, bottomOf, rightOf, type Piece } from '../layout/piece.js';
import type { Rectangle } from '../../../blocks/location.js';
import { joinRun, rowsOf } from '../layout/lines.js';
import { joinTexts } from '../layout/unspaced-lines.js';
import { createGroups } from './groups.js';
import { isRuled, type Rulings } from './rulings.js';
import { isNumeric } from './text-rows.js';

/** The boundary of two columns or rows of a table. */
export interface Edge {
  readonly at: number;
  /** True if lines part them, in some places at least, and not the texts alone. */
  readonly isRuled: boolean;
}

/** The columns and rows of a table from the first edge to the last. */
export interface Grid {
  readonly columns: readonly Edge[];
  readonly rows: readonly Edge[];
  readonly rulings: Rulings;
}

/** A cell by the columns and rows over which it reaches, both ends included. */
export interface GridCell {
  readonly column: number;
  readonly lastColumn: number;
  readonly row: number;
  readonly lastRow: number;
  readonly text: string;
  readonly letters: number;
}

/** Grids with more comparisons of places with lines are drawings. */
const MAX_COMPARED = 3_000_000;
/** The widest space between an edge and the text beside it, in sizes of its font. */
const MAX_MARGIN = 0.8;
/** A text that reaches less far beyond an edge, in points, does not cross it. */
const MIN_CROSSED = 1;

export const boxOf = ({ columns, rows }: Grid): Rectangle => {
  const [x = 0, y = 0] = [columns[0]?.at, rows[0]?.at];
  return { x, y, width: (columns.at(-1)?.at ?? x) - x, height: (rows.at(-1)?.at ?? y) - y };
};

/** The number of the column or row in which a place lies. */
export function placeIn(edges: readonly Edge[], at: number): number {
  let [low, high] = [0, Math.max(0, edges.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((edges[middle]?.at ?? Infinity) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The cells of a grid with texts, from top to bottom and left to right. */
export function cellsOf(grid: Grid, pieces: readonly Piece[]): GridCell[] {
  const [width, height] = [grid.columns.length - 1, grid.rows.length - 1];
  const lines = 1 + grid.rulings.across.length + grid.rulings.down.length;
  if (width < 1 || height < 1 || width * height * lines > MAX_COMPARED) return [];
  const groups = openedGroups(grid, pieces, { width, height });
  const texts = new Map<number, Piece[]>();
  for (const piece of pieces) {
    const group = groups.find(placeOf(grid, piece, width));
    const own = texts.get(group);
    if (own) own.push(piece);
    else texts.set(group, [piece]);
  }
  const spans = new Map<number, Omit<GridCell, 'text' | 'letters'>>();
  for (let place = 0; place < width * height; place += 1) {
    const [column, row] = [place % width, Math.floor(place / width)];
    const group = groups.find(place);
    const span = spans.get(group) ?? { column, lastColumn: column, row, lastRow: row };
    spans.set(group, {
      column: Math.min(span.column, column),
      lastColumn: Math.max(span.lastColumn, column),
      row: span.row,
      lastRow: row,
    });
  }
  return [...spans].map(([group, span]) => {
    const text = textOf(texts.get(group) ?? [], spanOf(grid, span));
    return { ...span, text, letters: text.replace(/\s/g, '').length };
  });
}

const placeOf = ({ columns, rows }: Grid, { x, y, width, height }: Piece, across: number): number =>
  placeIn(rows, y + height / 2) * across + placeIn(columns, x + width / 2);

const spanOf = ({ columns }: Grid, { column, lastColumn }: Pick<GridCell, 'column' | 'lastColumn'>) => ({
  from: at(columns, column).at,
  to: at(columns, lastColumn + 1).at,
});

/** Returns the text of a cell between two edges, from which its lines keep a distance. */
function textOf(pieces: readonly Piece[], { from, to }: { from: number; to: number }): string {
  const lines = rowsOf(pieces).map((row) => joinRun(row));
  const gaps = lines.map((line) => Math.min(line.x - from, to - rightOf(line), MAX_MARGIN * line.size));
  const margin = Math.max(0, Math.min(...gaps));
  return joinTexts(lines, ' ', to - from - 2 * margin);
}

/** Returns the places of a grid. Places that no line parts are joined, as far as their texts are one. */
function openedGroups(grid: Grid, pieces: readonly Piece[], size: Size) {
  const groups = createGroups(size.width * size.height);
  const filled = filledPlaces(grid, pieces, size);
  for (const [one, other] of [
    ...openAcross(grid, pieces, { ...size, filled }),
    ...openDown(grid, { ...size, filled }),
  ])
    groups.join(one, other);
  return groups;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

interface FilledPlace extends Rectangle {
  readonly size: number;
  readonly isNumber: boolean;
}

/** The rectangles of the texts in each place that has some. */
type Filled = ReadonlyMap<number, FilledPlace>;

function filledPlaces(grid: Grid, pieces: readonly Piece[], { width }: Size): Filled {
  const filled = new Map<number, FilledPlace>();
  for (const piece of pieces) {
    const place = placeOf(grid, piece, width);
    const other = filled.get(place);
    const isNumber = isNumeric(piece.text) && other?.isNumber !== false;
    filled.set(place, { ...around(other ? [other, piece] : [piece]), size: piece.size, isNumber });
  }
  return filled;
}

/**
 * Returns pairs of neighbouring places in a row that are one cell: a text crosses the boundary between them, or stands
 * alone between two lines.
 */
function openAcross(
  { columns, rows, rulings }: Grid,
  pieces: readonly Piece[],
  { width, height, filled }: Size & { readonly filled: Filled },
): [number, number][] {
  const pairs: [number, number][] = [];
  for (const piece of pieces) {
    const row = placeIn(rows, piece.y + piece.height / 2);
    const first = placeIn(columns, piece.x + MIN_CROSSED);
    const last = placeIn(columns, rightOf(piece) - MIN_CROSSED);
    for (let column = first; column < last; column += 1)
      pairs.push([row * width + column, row * width + column + 1]);
  }
  for (let row = 0; row < height; row += 1) {
    const [from, to] = [at(rows, row).at, at(rows, row + 1).at];
    let start = 0;
    for (let column = 0; column < width; column += 1) {
      const edge = columns[column + 1];
      const isOpen = edge?.isRuled && column + 1 < width && !isRuled(rulings.down, { at: edge.at, from, to });
      if (isOpen) continue;
      const run = Array.from({ length: column - start + 1 }, (_, index) => row * width + start + index);
      if (run.filter((place) => filled.has(place)).length === 1)
        for (const [index, place] of run.slice(1).entries()) pairs.push([run[index] ?? place, place]);
      start = column + 1;
    }
  }
  return pairs;
}

/** Lines of a text that are farther apart, in sizes of its font, are not of the same cell where no line tells. */
const MAX_LEADING = 0.6;

/** Pairs of places below each other between which no line is, unless each has a text of its own. */
function openDown(
  { columns, rows, rulings }: Grid,
  { width, height, filled }: Size & { readonly filled: Filled },
): [number, number][] {
  const pairs: [number, number][] = [];
  for (let row = 0; row + 1 < height; row += 1) {
    const edge = rows[row + 1];
    if (!edge?.isRuled) continue;
    const areRows =
      areNumbersIn(filled, { row, width }) &&
      !isRuledInTexts({ columns, rows, rulings }, { row, width, filled });
    for (let column = 0; column < width; column += 1) {
      const [from, to] = [at(columns, column).at, at(columns, column + 1).at];
      if (isRuled(rulings.across, { at: edge.at, from, to })) continue;
      const place = row * width + column;
      const [above, below] = [filled.get(place), filled.get(place + width)];
      const areApart = above && below && (areRows || below.y - bottomOf(above) > MAX_LEADING * below.size);
      if (!areApart) pairs.push([place, place + width]);
    }
  }
  return pairs;
}

/** Tells whether numbers stand below numbers, or below the names of their columns, in several columns of a row: each is a row of its own. */
function areNumbersIn(filled: Filled, { row, width }: { row: number; width: number }): boolean {
  const isNumber = (place: number): boolean => filled.get(place)?.isNumber === true;
  const places = Array.from({ length: width }, (_, column) => row * width + column);
  return places.filter((place) => filled.has(place) && isNumber(place + width)).length > 1;
}

/** Tells whether a line parts texts of a row from texts of the next one. */
function isRuledInTexts(
  { columns, rows, rulings }: Grid,
  { row, width, filled }: { readonly row: number; readonly width: number; readonly filled: Filled },
): boolean {
  const edge = at(rows, row + 1).at;
  return Array.from({ length: width }, (_, column) => column).some((column) => {
    const [from, to] = [at(columns, column).at, at(columns, column + 1).at];
    const place = row * width + column;
    return (
      (filled.has(place) || filled.has(place + width)) && isRuled(rulings.across, { at: edge, from, to })
    );
  });
}
