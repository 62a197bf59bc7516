import { rightOf, type Piece } from '../layout/piece.js';
import { joinRun, rowsOf } from '../layout/lines.js';

/** Texts of a line that are less far apart, in sizes of their font, are of the same cell. */
const MAX_SPACE = 0.7;
/** A text stands in a column when it shares at least this many points with it. */
const MIN_SHARED = 0.5;
const MAX_COLUMNS = 100;

/** A text does not reach this many points beyond a line that parts it from the next one. */
const MIN_CROSSED = 1;

/**
 * Returns the texts of each line, from top to bottom; texts with only a space between them are joined.
 * @param edges the places where lines part texts, however near these are
 */
export function segmentLines(pieces: readonly Piece[], edges: readonly number[] = []): Piece[][] {
  const isParted = (last: Piece, piece: Piece): boolean =>
    edges.some((at) => rightOf(last) <= at + MIN_CROSSED && piece.x >= at - MIN_CROSSED);
  return rowsOf(pieces).map((row) => {
    const runs: Piece[][] = [];
    for (const piece of row) {
      const run = runs.at(-1);
      const last = run?.at(-1);
      const isNear = last && piece.x - rightOf(last) <= MAX_SPACE * Math.max(piece.size, last.size);
      if (run && isNear && !isParted(last, piece)) run.push(piece);
      else runs.push([piece]);
    }
    return runs.map(joinRun);
  });
}

interface Column {
  readonly from: number;
  readonly to: number;
  /** The lines that have a text in it. */
  readonly lines: ReadonlySet<number>;
}

/** The columns in which the texts of lines stand one below another, from left to right. */
export function textColumns(lines: readonly (readonly Piece[])[]): Column[] {
  let columns: Column[] = [];
  const numbered = lines.map((line, index) => ({ line, index }));
  for (const { line, index } of numbered.toSorted((a, b) => b.line.length - a.line.length))
    for (const piece of line) {
      if (columns.length > MAX_COLUMNS) return [];
      columns = withText(columns, piece, index);
    }
  return joined(
    columns.toSorted((a, b) => a.from - b.from),
    lines.length,
  );
}

function withText(columns: readonly Column[], piece: Piece, index: number): Column[] {
  const [from, to] = [piece.x, rightOf(piece)];
  const under = columns.filter(
    (column) => Math.min(to, column.to) - Math.max(from, column.from) > MIN_SHARED,
  );
  const [own] = under;
  if (!own) return [...columns, { from, to, lines: new Set([index]) }];
  if (under.length > 1) return [...columns];
  const wider = {
    from: Math.min(from, own.from),
    to: Math.max(to, own.to),
    lines: new Set([...own.lines, index]),
  };
  return columns.map((column) => (column === own ? wider : column));
}

/** A column in which hardly any line has a text is a part of the nearest one, unless a line has texts in both. */
function joined(columns: readonly Column[], lines: number): Column[] {
  const few = Math.max(1, lines * 0.15);
  let left = [...columns];
  for (;;) {
    const at = left.findIndex(
      (column, index) => column.lines.size <= few && neighbour(left, index) !== undefined,
    );
    const [column, other] = [left[at], left[neighbour(left, at) ?? -1]];
    if (!column || !other) return left;
    const one = {
      from: Math.min(column.from, other.from),
      to: Math.max(column.to, other.to),
      lines: new Set([...column.lines, ...other.lines]),
    };
    left = left
      .filter((each) => each !== column && each !== other)
      .concat(one)
      .sort((a, b) => a.from - b.from);
  }
}

/** The place of the nearest column beside one, with which it has no line in common. */
function neighbour(columns: readonly Column[], at: number): number | undefined {
  const column = columns[at];
  if (!column) return undefined;
  const gapTo = (other: Column | undefined): number =>
    other ? Math.max(other.from - column.to, column.from - other.to) : Infinity;
  return [at - 1, at + 1]
    .filter((each) => {
      const other = columns[each];
      return other && ![...column.lines].some((line) => other.lines.has(line));
    })
    .toSorted((a, b) => gapTo(columns[a]) - gapTo(columns[b]))[0];
}

/** The places between columns. */
export const between = (columns: readonly Column[]): number[] =>
  columns.slice(1).map((column, index) => ((columns[index]?.to ?? column.from) + column.from) / 2);
