import { at } from '../../../../shared/at.js';
import { bottomOf, holds, type Piece } from '../layout/piece.js';
import { boxOf, placeIn, type Edge, type Grid } from './grid.js';
import { WIDE } from '../layout/unspaced-lines.js';
import { hasNoRoom, isNumeric, textRows, type TextLine } from './text-rows.js';
import { between, segmentLines, textColumns } from './text-columns.js';

/** The share of lines with texts side by side that makes columns where no lines part them. */
const MIN_PARTED = 0.5;
/** The same within a column of a table whose other columns are parted by lines. */
const MIN_PARTED_IN_COLUMN = 0.7;
const MIN_IN_COLUMN = 3;
/** Columns that the texts of more lines cross are none. */
const MAX_CROSSING = 0.4;
const WORD = /\p{L}{3}/u;

/** Parts the columns and rows of a grid further, where no lines part them but the places of their texts do. */
export function refineGrid(grid: Grid, pieces: readonly Piece[]): Grid {
  const columns = withTextEdges(grid, pieces);
  const rows = rowEdges({ ...grid, columns }, pieces);
  return { ...grid, columns, rows };
}

function withTextEdges(grid: Grid, pieces: readonly Piece[]): Edge[] {
  const { columns, rows } = grid;
  const isOnly = columns.length === 2;
  const box = boxOf(grid);
  return columns.flatMap((edge, index) => {
    const next = columns[index + 1];
    if (!next) return [edge];
    const own = pieces.filter((piece) => holds({ ...box, x: edge.at, width: next.at - edge.at }, piece));
    const lines = linesInBands(rows, own);
    const parted = lines.filter((line) => line.length > 1).length;
    const isParted = isOnly
      ? parted >= 2 && parted >= MIN_PARTED * lines.length
      : parted >= MIN_IN_COLUMN && parted >= MIN_PARTED_IN_COLUMN * lines.length;
    if (!isParted) return [edge];
    const places = between(textColumns(lines));
    const crossing = lines.filter((line) =>
      line.some(
        (piece) =>
          WORD.test(piece.text) && places.some((at) => piece.x < at - 1 && piece.x + piece.width > at + 1),
      ),
    );
    if (crossing.length > MAX_CROSSING * lines.length) return [edge];
    return [edge, ...places.map((at) => ({ at, isRuled: false }))];
  });
}

/** The lines of each row, so that texts at both sides of a line are not joined. */
const linesInBands = (rows: readonly Edge[], pieces: readonly Piece[]): Piece[][] =>
  bandsOf(rows, pieces).flatMap(({ own }) => segmentLines(own));

function bandsOf(rows: readonly Edge[], pieces: readonly Piece[]): { edge: Edge; own: Piece[] }[] {
  const own = rows.map((): Piece[] => []);
  for (const piece of pieces) own[placeIn(rows, piece.y + piece.height / 2)]?.push(piece);
  return rows.map((edge, index) => ({ edge, own: own[index] ?? [] }));
}

function rowEdges(grid: Grid, pieces: readonly Piece[]): Edge[] {
  const { columns, rows } = grid;
  const bands = bandsOf(rows, pieces);
  const filled = bands.filter(({ own }) => own.length > 0).length;
  const isByText = columns.filter(({ isRuled }) => isRuled).length <= 2;
  const isFull = !isByText || filled > 2;
  const ruled = columns.filter(({ isRuled }) => isRuled).map(({ at }) => at);
  return bands.flatMap(({ edge, own }, index) => {
    const lines = segmentLines(own, ruled).map((segments): TextLine => ({
      pieces: segments,
      columns: segments.map(({ x, width }) => placeIn(columns, x + width / 2)),
    }));
    if (lines.length < 2) return [edge];
    const isOne = isFull && !isStack(lines, isByText ? LOOSE : STRICT);
    const isHeader = index === 0 && rows.length > 2 && lines.filter(hasNumber).length < 2;
    const groups = isOne || isHeader ? headerRows(lines, columns) : textRows(lines);
    return [
      edge,
      ...groups.slice(1).map((group, at) => ({ at: edgeBetween(groups[at] ?? [], group), isRuled: false })),
    ];
  });
}

const hasNumber = ({ pieces }: TextLine): boolean => pieces.some(({ text }) => isNumeric(text));

interface Stack {
  /** The least number of lines, and their least share of all, that have texts in several columns, a number among them. */
  readonly lines: number;
  readonly share: number;
}
const LOOSE: Stack = { lines: 2, share: 0.5 };
const STRICT: Stack = { lines: 3, share: 0.7 };
/** This many lines of several short texts are rows without any number. */
const MIN_OF_WORDS = 5;
const MAX_MEAN_WORDS = 15;
/** The least share, and the least number, of texts of words that go on in the next line in cells of several lines. */
const MIN_BROKEN_SHARE = 0.75;
const MIN_BROKEN_LINES = 4;
const OF_WORDS = new RegExp(`\\S \\S|(?:${WIDE}){6}`, 'u');

/** Tells whether the texts between two lines across a table are several rows. */
function isStack(lines: readonly TextLine[], { lines: fewest, share }: Stack): boolean {
  const full = lines.filter((line) => line.columns.length > 1);
  const numbers = full.filter(({ pieces }) => pieces.some(({ text }) => isNumeric(text)));
  if (numbers.length >= fewest && numbers.length >= share * lines.length) return true;
  if (areNumbersBelow(lines)) return true;
  const wide = lines.filter((line) => line.columns.length > 2);
  const texts = lines.flatMap(({ pieces }) => pieces.map(({ text }) => text.length));
  const mean = texts.reduce((sum, length) => sum + length, 0) / texts.length;
  const areShort = mean <= MAX_MEAN_WORDS && !areBroken(lines);
  return wide.length >= MIN_OF_WORDS && wide.length >= share * lines.length && areShort;
}

/** Tells whether texts of several words, or in Chinese or Japanese, go on in the lines below, since these had no room. */
function areBroken(lines: readonly TextLine[]): boolean {
  const columns = new Map<number, Piece[]>();
  for (const { pieces, columns: own } of lines)
    for (const [index, piece] of pieces.entries()) {
      const number = at(own, index);
      const column = columns.get(number);
      if (column) column.push(piece);
      else columns.set(number, [piece]);
    }
  const flags = [...columns.values()].flatMap((column) => {
    const width = column.reduce((most, piece) => Math.max(most, piece.width), 0);
    return column.slice(1).flatMap((piece, index) => {
      const before = column[index];
      return before && OF_WORDS.test(before.text) ? [hasNoRoom(before, piece, width)] : [];
    });
  });
  return flags.length >= MIN_BROKEN_LINES && flags.filter(Boolean).length >= MIN_BROKEN_SHARE * flags.length;
}

/** Tells whether each of several lines begins with words and has numbers in the same columns, two at least. */
function areNumbersBelow(lines: readonly TextLine[]): boolean {
  const columns = lines.map(({ pieces, columns: own }) => {
    const [first = -1] = own;
    const numbers = own.filter((_, index) => isNumeric(at(pieces, index).text));
    return WORD.test(at(pieces, 0).text) && first !== numbers[0] ? [first, ...numbers].join() : '';
  });
  const [shared = ''] = columns;
  return shared.split(',').length > 2 && columns.every((each) => each === shared);
}

/** Names of columns in several lines are one row, below each line that names several columns at once. */
function headerRows(lines: readonly TextLine[], columns: readonly Edge[]): (readonly TextLine[])[] {
  const groups: TextLine[][] = [];
  let isOpen = false;
  for (const line of lines) {
    const isOver =
      isSpanning(line, columns) && lines.some((other) => other !== line && isUnder(other, line, columns));
    if (isOpen && !isOver) groups.at(-1)?.push(line);
    else groups.push([line]);
    isOpen = !isOver;
  }
  return groups;
}

const reach = ({ x, width }: Piece, columns: readonly Edge[]) => ({
  first: placeIn(columns, x + 1),
  last: placeIn(columns, x + width - 1),
});

const isSpanning = ({ pieces }: TextLine, columns: readonly Edge[]): boolean =>
  pieces.some((piece) => reach(piece, columns).first < reach(piece, columns).last);

/** Tells whether a line has several texts where another line has one that reaches over their columns. */
const isUnder = (line: TextLine, over: TextLine, columns: readonly Edge[]): boolean =>
  over.pieces.some((piece) => {
    const { first, last } = reach(piece, columns);
    return first < last && line.columns.filter((column) => column >= first && column <= last).length > 1;
  });

function edgeBetween(above: readonly TextLine[], below: readonly TextLine[]): number {
  const bottom = Math.max(...above.flatMap(({ pieces }) => pieces.map(bottomOf)));
  const top = Math.min(...below.flatMap(({ pieces }) => pieces.map(({ y }) => y)));
  if (top >= bottom) return (top + bottom) / 2;
  const middles = (lines: readonly TextLine[]) =>
    lines.flatMap(({ pieces }) => pieces.map(({ y, height }) => y + height / 2));
  return (Math.max(...middles(above)) + Math.min(...middles(below))) / 2;
}
