import { at, addTo } from '../../../../shared/at.js';
import { spanCells } from '../../tables/span-cells.js';
import { holds, rightOf, type Piece } from '../layout/piece.js';
import { charactersWide, WIDE } from '../layout/unspaced-lines.js';
import { boxOf, cellsOf, placeIn, type Edge, type Grid, type GridCell } from './grid.js';
import { refineGrid } from './refine-grid.js';
import { meetingRulings, isRuled, type Ruling, type Rulings } from './rulings.js';
import { segmentLines } from './text-columns.js';
import { isNumeric } from './text-rows.js';

/** A line that reaches at least this many points beyond the outermost line across it has no line at that side. */
const MIN_OPEN = 6;
/** Cells with more letters on average are no table but the frames of texts. */
const MAX_MEAN_CELL = 150;
/** The same where texts alone part the columns. */
const MAX_MEAN_TEXT = 40;

/** A text from side to side with more letters is a note. */
const MAX_NOTE_LENGTH = 100;
/** More groups of lines of a page are drawings. */
const MAX_FRAMES = 300;

/** Puts the tables that lines draw in the places of their texts. */
export function placeRuledTables(pieces: readonly Piece[], rulings: Rulings): readonly Piece[] {
  const free = new Set(rulings.across);
  let left = pieces;
  const place = (grid: Grid): boolean => {
    const own = left.filter((piece) => holds(boxOf(grid), piece));
    // A frame around a table is none itself.
    const table = own.some((piece) => piece.table) ? undefined : toTable(grid, own);
    if (table) left = [...left.filter((piece) => !holds(table, piece)), table];
    return table !== undefined;
  };
  const frames = meetingRulings(rulings).map(gridOf).filter(hasCells);
  for (const grid of frames.toSorted((a, b) => areaOf(a) - areaOf(b)).slice(0, MAX_FRAMES))
    if (place(grid)) for (const ruling of grid.rulings.across) free.delete(ruling);
  for (const { x, right, edges } of ruledRegions([...free], left))
    place({ columns: [x, right].map(ruledAt), rows: edges.map(ruledAt), rulings });
  return left;
}

const ruledAt = (at: number): Edge => ({ at, isRuled: true });
const hasCells = ({ columns, rows }: Grid): boolean =>
  columns.length > 1 && rows.length > 1 && columns.length + rows.length > 4;

function areaOf(grid: Grid): number {
  const { width, height } = boxOf(grid);
  return width * height;
}

function gridOf(rulings: Rulings): Grid {
  const { across, down } = rulings;
  return { columns: edgesOf(down, across), rows: edgesOf(across, down), rulings };
}

/** Returns the places of lines, and the ends of the crossing lines where these reach farther. */
function edgesOf(rulings: readonly Ruling[], crossing: readonly Ruling[]): Edge[] {
  const places = [...new Set(rulings.map(({ at }) => at))].sort((a, b) => a - b);
  const from = crossing.reduce((least, ruling) => Math.min(least, ruling.from), Infinity);
  const to = crossing.reduce((most, ruling) => Math.max(most, ruling.to), -Infinity);
  const [first = Infinity, last = -Infinity] = [places[0], places.at(-1)];
  const before = first - from > MIN_OPEN ? [from] : [];
  const after = to - last > MIN_OPEN ? [to] : [];
  return [...before, ...places, ...after].map(ruledAt);
}

function toTable(whole: Grid, pieces: readonly Piece[]): Piece | undefined {
  if (whole.columns.length < 2 || whole.rows.length < 2) return undefined;
  const grid = withoutNotes(whole, pieces);
  const within = pieces.filter((piece) => holds(boxOf(grid), piece));
  const own = splitTexts(grid, within);
  if (own.length < 3) return undefined;
  const refined = refineGrid(grid, own);
  const cells = cellsOf(refined, splitTexts(refined, own));
  const filled = cells.filter(({ letters }) => letters > 0);
  const columns = new Set(filled.map(({ column }) => column));
  const rows = new Set(filled.map(({ row }) => row));
  if (columns.size < 2 || rows.size < 2) return undefined;
  const letters = filled.reduce((sum, cell) => sum + cell.letters, 0);
  const isByText = grid.columns.length === 2;
  if (letters / filled.length > (isByText ? MAX_MEAN_TEXT : MAX_MEAN_CELL)) return undefined;
  const size = own.reduce((sum, piece) => sum + piece.size, 0) / own.length;
  return { ...boxOf(grid), text: '', size, isBold: false, table: rowsFrom(refined, cells) };
}

/** The grid without rows at its ends in which long texts stand from side to side, such as notes within its frame. */
function withoutNotes(grid: Grid, pieces: readonly Piece[]): Grid {
  const { rows } = grid;
  if (rows.length < 4) return grid;
  const cells = cellsOf(grid, pieces);
  const isNote = (row: number): boolean => {
    const own = cells.filter((cell) => cell.row <= row && cell.lastRow >= row);
    const [only] = own;
    return (
      own.length === 1 && only !== undefined && only.letters > MAX_NOTE_LENGTH && grid.columns.length > 2
    );
  };
  let [first, last] = [0, rows.length - 2];
  while (first < last && isNote(first)) first += 1;
  while (last > first && isNote(last)) last -= 1;
  return { ...grid, rows: rows.slice(first, last + 2) };
}

function rowsFrom({ rows, columns }: Grid, cells: readonly GridCell[]): NonNullable<Piece['table']> {
  const height = rows.length - 1;
  const width = columns.length - 1;
  const byRow = Array.from({ length: height }, (_, row) =>
    cells
      .filter((cell) => cell.row === row)
      .toSorted((a, b) => a.column - b.column)
      .map(({ text, column, lastColumn, lastRow }) => ({
        text,
        columns: lastColumn - column + 1,
        rows: lastRow - row + 1,
      })),
  );
  const first = byRow.findIndex((row) => row.some(({ text }) => text !== ''));
  const spanned = spanCells(byRow, headerRowsOf(cells, first, width));
  const [x = 0, right = 0] = [columns[0]?.at, columns.at(-1)?.at];
  return spanned.map((texts, row) => {
    const [y = 0, bottom = 0] = [rows[row]?.at, rows[row + 1]?.at];
    return { cells: texts, box: { x, y, width: right - x, height: bottom - y } };
  });
}

/**
 * Returns the number of rows from the first that name columns: the rows up to the first one that names each column on its
 * own.
 */
function headerRowsOf(cells: readonly GridCell[], first: number, width: number): number {
  let rows = 0;
  for (let row = first; row < first + 3; row += 1) {
    const spans = cells.filter(
      (cell) => cell.row === row && cell.letters > 0 && cell.lastColumn > cell.column,
    );
    if (spans.length === 0 || spans.some(({ column, lastColumn }) => lastColumn - column + 1 === width))
      break;
    rows = row + 1;
  }
  return rows;
}

/** The space at which a text is split stands no farther from the edge between columns, in sizes of its font. */
const FARTHEST_SPACE = 1.5;
/** The same for the place between two characters of scripts without spaces. */
const FARTHEST_CHARACTER = 0.6;
const BETWEEN = new RegExp(` |(?<=${WIDE})(?=${WIDE})`, 'gu');

interface Space {
  readonly from: number;
  readonly to: number;
}
const MIN_CROSSED = 2;

/**
 * Splits texts that the reader joined across columns: at a line, and numbers also where only the texts above and below part
 * the columns. Where its words stand is told by their share of the characters.
 */
export function splitTexts(grid: Grid, pieces: readonly Piece[]): Piece[] {
  const rowOf = ({ y, height }: Piece) => placeIn(grid.rows, y + height / 2);
  const counts = new Map<number, number>();
  for (const piece of pieces) addTo(counts, rowOf(piece));
  return pieces.flatMap((piece) => {
    // A text alone in its row runs across the columns.
    if (piece.text.search(BETWEEN) < 0 || counts.get(rowOf(piece)) === 1) return [piece];
    const places = crossedEdges(grid, piece);
    return places.length === 0 ? [piece] : splitAt(piece, places);
  });
}

function crossedEdges({ columns, rows, rulings }: Grid, piece: Piece): number[] {
  const row = placeIn(rows, piece.y + piece.height / 2);
  const [from, to] = [at(rows, row).at, at(rows, row + 1).at];
  const areNumbers = piece.text.split(' ').every(isNumeric);
  return columns.slice(1, -1).flatMap(({ at, ...edge }) => {
    if (at < piece.x + MIN_CROSSED || at > rightOf(piece) - MIN_CROSSED) return [];
    const isParted = edge.isRuled ? isRuled(rulings.down, { at, from, to }) : areNumbers;
    return isParted ? [at] : [];
  });
}

function splitAt(piece: Piece, places: readonly number[]): Piece[] {
  const parts: Piece[] = [];
  let rest = piece;
  for (const at of places) {
    const { text, x, width, size } = rest;
    const character = width / charactersWide(text);
    const xAt = (index: number): number => x + charactersWide(text.slice(0, index)) * character;
    const spaces = [...text.matchAll(BETWEEN)].map(({ index, 0: { length } }) => ({
      from: index,
      to: index + length,
    }));
    const distance = ({ from, to }: Space) => Math.abs((xAt(from) + xAt(to)) / 2 - at);
    const space = spaces.toSorted((a, b) => distance(a) - distance(b))[0];
    const farthest = space?.from === space?.to ? FARTHEST_CHARACTER : FARTHEST_SPACE;
    if (!space || distance(space) > farthest * size) continue;
    const [right, left] = [Math.min(at, xAt(space.from)), Math.max(at, xAt(space.to))];
    parts.push({ ...rest, text: text.slice(0, space.from), width: right - x });
    rest = { ...rest, text: text.slice(space.to), x: left, width: rightOf(rest) - left };
  }
  return [...parts, rest];
}

/** A region where lines run across a page, one below another, with texts in columns between them. */
interface RuledRegion {
  readonly x: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** The heights of its lines. */
  readonly edges: readonly number[];
}

/** Lines of a table begin and end within this many points of each other. */
const SAME_END = 12;
/** The parts of a line that is broken between columns. */
const MAX_BREAK = 10;
const MIN_TABULAR = 0.5;
/** Two lines that are farther apart, with none below the names of columns, belong to the header and the footer of a page. */
const HIGHEST_BARE = 250;
const MAX_RULINGS = 500;

function ruledRegions(rulings: readonly Ruling[], pieces: readonly Piece[]): RuledRegion[] {
  const whole = wholeLines(rulings);
  if (whole.length > MAX_RULINGS) return [];
  const chains: Ruling[][] = [];
  for (const ruling of whole.toSorted((a, b) => a.at - b.at)) {
    const chain = chains.findLast((each) => each.slice(0, 1).some((first) => isSame(first, ruling)));
    if (chain) chain.push(ruling);
    else chains.push([ruling]);
  }
  return chains.flatMap((chain) => regionsOf(chain, pieces));
}

const isSame = (one: Ruling, other: Ruling): boolean =>
  Math.abs(one.from - other.from) <= SAME_END && Math.abs(one.to - other.to) <= SAME_END;

function wholeLines(rulings: readonly Ruling[]): Ruling[] {
  const lines: Ruling[] = [];
  for (const ruling of rulings.toSorted((a, b) => a.at - b.at || a.from - b.from)) {
    const last = lines.at(-1);
    if (last?.at === ruling.at && ruling.from - last.to <= MAX_BREAK)
      lines[lines.length - 1] = { ...last, to: ruling.to };
    else lines.push(ruling);
  }
  return lines;
}

/** Runs of lines between which texts stand in columns. */
function regionsOf(chain: readonly Ruling[], pieces: readonly Piece[]): RuledRegion[] {
  const regions: RuledRegion[] = [];
  let edges: number[] = [];
  const x = Math.min(...chain.map(({ from }) => from)) - 1;
  const right = Math.max(...chain.map(({ to }) => to)) + 1;
  const close = () => {
    const [top, bottom] = [edges[0], edges.at(-1)];
    if (top !== undefined && bottom !== undefined && bottom > top) {
      const isFrame = edges.length === 2 && bottom - top > HIGHEST_BARE;
      if (!isFrame) regions.push({ x, right, top, bottom, edges });
    }
    edges = [];
  };
  for (const [index, { at }] of chain.entries()) {
    const next = chain[index + 1];
    if (edges.length === 0) edges = [at];
    if (next && isTabular({ x, y: at, width: right - x, height: next.at - at }, pieces)) edges.push(next.at);
    else close();
  }
  return regions;
}

function isTabular(box: Parameters<typeof holds>[0], pieces: readonly Piece[]): boolean {
  const own = pieces.filter((piece) => holds(box, piece));
  if (own.some(({ table }) => table)) return false;
  const lines = segmentLines(own);
  const beside = lines.filter((line) => line.length > 1).flat().length;
  return beside >= MIN_TABULAR * lines.flat().length;
}
