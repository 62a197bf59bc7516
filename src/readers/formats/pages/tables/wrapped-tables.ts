import { around, holds, median, rightOf, standsAlone, type Piece } from '../layout/piece.js';
import { joinRun, rowsOf } from '../layout/lines.js';
import { joinTexts } from '../layout/unspaced-lines.js';
import { placeIn } from './grid.js';
import { groupByGaps, hasNoRoom, isNumeric } from './text-rows.js';
import { between as placesBetween, segmentLines, textColumns } from './text-columns.js';

/** The least numbers of columns and rows of a table that no lines draw. */
const MIN_COLUMNS = 3;
const MIN_ROWS = 3;
/** A line of one text that is wider than this share of the page's texts is prose. */
const MAX_WIDTH_ALONE = 0.6;
/** Rows are less far apart, in sizes of their font. */
const FARTHEST = 2.5;
/**
 * The least share of rows that have texts in several columns; of rows of several lines that have fewer in some column; and
 * of further lines of cells that begin with a word for which there was no room.
 */
const MIN_FULL = 0.75;
const MIN_UNEVEN = 0.6;
const MIN_WRAPPED = 0.75;
/** The greatest share of rows whose first words had no room in the row above; in prose all lines are such. */
const MAX_WRAPPED_ROWS = 0.5;
/** The share of texts of some column that have no more than two lines, and how long they are on average. */
const MIN_SHORT = 0.8;
const MAX_MEAN_LABEL = 25;
/** Cells with more letters on average are columns of prose. */
const MAX_MEAN_CELL = 100;
const MAX_LINES = 1_000;

type Line = readonly Piece[];

/**
 * Puts tables without lines whose cells have several lines in the places of their texts: their rows are farther apart than
 * the lines of a cell, whether these stand at the top, in the middle or at the bottom of their row.
 */
export function placeWrappedTables(pieces: readonly Piece[]): readonly Piece[] {
  const texts = pieces.filter((piece) => !standsAlone(piece) && !piece.isTurned);
  const lines = segmentLines(texts);
  if (lines.length < MIN_ROWS + 1 || lines.length > MAX_LINES) return pieces;
  let left = pieces;
  for (const run of runsOf(lines)) {
    const table = tableOf(run, texts);
    if (table) left = [...left.filter((piece) => !holds(table, piece)), table];
  }
  return left;
}

/** Lines below each other that no line of prose and no wide gap parts. */
function runsOf(lines: readonly Line[]): Line[][] {
  const { width } = around(lines.flat());
  const runs: Line[][] = [[]];
  let bottom = -Infinity;
  for (const line of lines) {
    const { y, height, width: own } = around(line);
    const size = median(line.map((piece) => piece.size));
    const isProse = line.length === 1 && own > MAX_WIDTH_ALONE * width;
    if (isProse || y - bottom > FARTHEST * size) runs.push([]);
    if (!isProse) runs.at(-1)?.push(line);
    bottom = Math.max(bottom, y + height);
  }
  return runs.filter((run) => run.length > MIN_ROWS && run.some((line) => line.length >= MIN_COLUMNS));
}

/** The lines of a row, or the content of its columns. */
interface Row {
  readonly lines: readonly Line[];
  /** The texts of each column, from top to bottom. */
  readonly cells: readonly Line[];
}

function tableOf(run: readonly Line[], texts: readonly Piece[]): Piece | undefined {
  const bands = bandsOf(run);
  if (!bands) return undefined;
  const edges = placesBetween(textColumns(run)).map((at) => ({ at, isRuled: false }));
  if (edges.length + 1 < MIN_COLUMNS) return undefined;
  const columns = [{ at: -Infinity, isRuled: false }, ...edges, { at: Infinity, isRuled: false }];
  const isCrossed = (piece: Piece) => edges.some(({ at }) => piece.x < at - 1 && rightOf(piece) > at + 1);
  const rows = trimmed(
    bands.map((lines): Row => {
      const cells = columns.slice(1).map((): Piece[] => []);
      for (const piece of lines.flat()) cells[placeIn(columns, piece.x + piece.width / 2)]?.push(piece);
      return { lines, cells };
    }),
  );
  if (rows.some(({ lines }) => lines.flat().some(isCrossed)) || !areRows(rows)) return undefined;
  const box = around(rows.flatMap(({ lines }) => lines.flat()));
  const own = texts.filter((piece) => holds(box, piece));
  const rooms = columnsOf(rows).map((cells) => Math.max(...cells.flat().map((piece) => piece.width)));
  const table = rows.map(({ lines, cells }) => ({
    cells: cells.map((cell, column) =>
      joinTexts(
        rowsOf(cell).map((row) => joinRun(row)),
        ' ',
        rooms[column] ?? Infinity,
      ),
    ),
    box: { ...around(lines.flat()), x: box.x, width: box.width },
  }));
  return { ...box, text: '', size: median(own.map(({ size }) => size)), isBold: false, table };
}

/** Groups lines into rows; none where their gaps do not tell them. */
function bandsOf(lines: readonly Line[]): Line[][] | undefined {
  const size = Math.max(1, median(lines.flat().map((piece) => piece.size)));
  let bottom = -Infinity;
  const placed = lines.map((line) => {
    const { y, height } = around(line);
    // Signs that reach into the line above are no gap of their own.
    const top = Math.max(y, bottom);
    bottom = Math.max(bottom, y + height);
    return { line, top, bottom };
  });
  return groupByGaps(placed, size)?.map((band) => band.map(({ line }) => line));
}

const filledOf = ({ cells }: Row): number => cells.filter((cell) => cell.length > 0).length;

/** Returns rows without the rows at the ends that are no more than a text above or below the table. */
function trimmed(rows: readonly Row[]): readonly Row[] {
  const isFull = (row: Row): boolean => filledOf(row) >= MIN_COLUMNS;
  return rows.slice(rows.findIndex(isFull), rows.findLastIndex(isFull) + 1);
}

/** Tells whether rows belong to a table, and the lines of their cells result from breaking. */
function areRows(rows: readonly Row[]): boolean {
  const cells = rows.flatMap((row) => row.cells.filter((cell) => cell.length > 0));
  const tall = rows.filter(({ cells: own }) => own.some((cell) => cell.length > 1));
  if (rows.length < MIN_ROWS || tall.length === 0) return false;
  const full = rows.filter((row) => filledOf(row) >= MIN_COLUMNS);
  if (full.length < MIN_FULL * rows.length) return false;
  const uneven = tall.filter(({ cells: own }) => {
    const counts = own.map((cell) => cell.length).filter((count) => count > 0);
    return counts.some((count) => count !== counts[0]);
  });
  if (uneven.length < MIN_UNEVEN * tall.length) return false;
  if (cells.some((cell) => cell.filter(({ text }) => isNumeric(text)).length > 1)) return false;
  const letters = cells.flat().reduce((sum, { text }) => sum + text.length, 0);
  return letters <= MAX_MEAN_CELL * cells.length && hasLabels(rows) && areBroken(rows);
}

/** Tells whether the texts of some column are short, as the texts of columns of prose are not. */
const hasLabels = (rows: readonly Row[]): boolean =>
  columnsOf(rows).some((cells) => {
    const filled = cells.filter((cell) => cell.length > 0);
    const letters = filled.flat().reduce((sum, { text }) => sum + text.length, 0);
    const short = filled.filter((cell) => cell.length <= 2).length;
    return short >= MIN_SHORT * filled.length && letters <= MAX_MEAN_LABEL * filled.length;
  });

const columnsOf = (rows: readonly Row[]): (readonly Line[])[] =>
  (rows[0]?.cells ?? []).map((_, column) => rows.map((row) => row.cells[column] ?? []));

/** Tells whether most further lines of cells are there since no word more had room in the line above, and most rows are not. */
function areBroken(rows: readonly Row[]): boolean {
  const within: boolean[] = [];
  const between: boolean[] = [];
  for (const cells of columnsOf(rows).filter((column) => column.some((cell) => cell.length > 1))) {
    const width = cells.flat().reduce((most, piece) => Math.max(most, piece.width), 0);
    for (const [row, cell] of cells.entries())
      for (const [index, line] of cell.entries()) {
        const before = cell[index - 1] ?? cells[row - 1]?.at(-1);
        if (before) (index > 0 ? within : between).push(hasNoRoom(before, line, width));
      }
  }
  const shareOf = (flags: readonly boolean[]): number => flags.filter((flag) => flag).length / flags.length;
  return shareOf(within) >= MIN_WRAPPED && shareOf(between) <= MAX_WRAPPED_ROWS;
}
