import { countMatches } from '../../../blocks/matches.js';
import { rowsOf } from './lines.js';
import { around, bottomOf, isRightToLeft, median, rightOf, type Piece } from './piece.js';

/** Fewer lines on a side are no column. */
const MIN_LINES = 3;
/** The most lines that may cross the gap between two columns, such as titles, for each line in them. */
const MAX_CROSSING = 0.35;
/** The narrowest gap between two columns, in points. */
const NARROWEST_GAP = 6;
/** Lines with fewer characters that stand side by side are cells of a table, which is read row by row. */
const PROSE_CHARACTERS = 20;
/** Lines of columns are less far apart, in sizes of their font. */
const MAX_APART = 6;
const MAX_DEPTH = 8;
const MAX_CANDIDATES = 24;

interface Cut {
  readonly before: readonly Piece[];
  readonly after: readonly Piece[];
  readonly crossing: readonly Piece[];
}

/** Parts lines into groups that are read one after the other: columns, and the lines above, between and below them. */
export function orderColumns(lines: readonly Piece[], depth = 0): (readonly Piece[])[] {
  if (lines.length === 0) return [];
  const cut = depth < MAX_DEPTH ? bestCut(lines) : undefined;
  if (!cut) return depth < MAX_DEPTH ? aroundTable(lines, depth) : [lines];
  const isReversed = isRightToLeft(lines.map(({ text }) => text).join(''));
  return bandsOf(cut).flatMap((band) => {
    if ('crossing' in band) return [band.crossing];
    if ('other' in band) return orderColumns(band.other, depth + 1);
    const sides = isReversed ? [band.after, band.before] : [band.before, band.after];
    return sides.flatMap((side) => orderColumns(side, depth + 1));
  });
}

/** Columns of prose above and below a table, beside which nothing stands, are parted on their own. */
function aroundTable(lines: readonly Piece[], depth: number): (readonly Piece[])[] {
  const isFree = (table: Piece): boolean => !lines.some((other) => other !== table && isBeside(other, table));
  const table = lines.find((line) => line.table && isFree(line));
  if (!table) return [lines];
  const above = lines.filter((line) => middleOf(line) < middleOf(table));
  const below = lines.filter((line) => middleOf(line) > middleOf(table));
  if (![above, below].some(isInColumns)) return [lines];
  const ordered = (part: readonly Piece[]) => (isInColumns(part) ? orderColumns(part, depth + 1) : [part]);
  return [...ordered(above), [table], ...ordered(below)].filter((part) => part.length > 0);
}

function isInColumns(lines: readonly Piece[]): boolean {
  const cut = bestCut(lines);
  return cut !== undefined && shortestOf(cut) >= PROSE_CHARACTERS;
}

/** Finds the gap from top to bottom that parts the most lines. */
function bestCut(lines: readonly Piece[]): Cut | undefined {
  if (lines.length < 2 * MIN_LINES) return undefined;
  let best: Cut | undefined;
  let score = 0;
  for (const x of gapsOf(lines)) {
    const cut = cutAt(lines, x);
    const parted = Math.min(cut.before.length, cut.after.length) - cut.crossing.length;
    if (parted + lines.length > score && areColumns(cut)) {
      best = cut;
      score = parted + lines.length;
    }
  }
  return best;
}

/** Finds where few lines stand, between places where many do. */
function gapsOf(lines: readonly Piece[]): number[] {
  const edges = lines.flatMap((line) => [
    { x: line.x, step: 1 },
    { x: rightOf(line), step: -1 },
  ]);
  edges.sort((a, b) => a.x - b.x || a.step - b.step);
  const gaps: { x: number; crossing: number }[] = [];
  let crossing = 0;
  for (const [index, edge] of edges.entries()) {
    crossing += edge.step;
    const next = edges[index + 1];
    if (!next || next.x - edge.x < NARROWEST_GAP) continue;
    if (crossing <= lines.length * MAX_CROSSING) gaps.push({ x: (edge.x + next.x) / 2, crossing });
  }
  gaps.sort((a, b) => a.crossing - b.crossing);
  return gaps.slice(0, MAX_CANDIDATES).map(({ x }) => x);
}

function cutAt(lines: readonly Piece[], x: number): Cut {
  const before = lines.filter((line) => rightOf(line) <= x);
  const after = lines.filter((line) => line.x >= x);
  const crossing = lines.filter((line) => rightOf(line) > x && line.x < x);
  return { before, after, crossing };
}

function areColumns({ before, after, crossing }: Cut): boolean {
  if (Math.min(before.length, after.length) < MIN_LINES) return false;
  if (crossing.length > MAX_CROSSING * (before.length + after.length)) return false;
  const [left, right] = [around(before), around(after)];
  const shared = Math.min(bottomOf(left), bottomOf(right)) - Math.max(left.y, right.y);
  if (shared < 0.3 * Math.min(left.height, right.height)) return false;
  return shortestOf({ before, after }) >= PROSE_CHARACTERS || alignedShare(before, after) < 0.5;
}

/** The usual number of characters of a line of the side whose lines are shorter. */
const shortestOf = ({ before, after }: Pick<Cut, 'before' | 'after'>): number =>
  Math.min(charactersOf(before), charactersOf(after));

/** The usual number of characters of a line; a wide character counts as two. */
function charactersOf(lines: readonly Piece[]): number {
  return median(lines.map(({ text }) => text.length + countMatches(text, /[\u1100-\uffdc]/g)));
}

/** The share of rows of the side with fewer of them that stand at the height of a line of the other side. */
function alignedShare(one: readonly Piece[], other: readonly Piece[]): number {
  const sides = [rowsOf(one), rowsOf(other)] as const;
  const [few, many] = sides[0].length < sides[1].length ? [sides[0], other] : [sides[1], one];
  const heights = many.map(middleOf);
  const aligned = few.filter((row) =>
    row.some((line) => heights.some((height) => Math.abs(height - middleOf(line)) < 0.25 * line.size)),
  );
  return aligned.length / few.length;
}

/** The content between two heights: lines across the gap, columns on both of its sides, or columns with other gaps. */
type Band =
  | { readonly crossing: readonly Piece[] }
  | Pick<Cut, 'before' | 'after'>
  | { readonly other: readonly Piece[] };

/** Parts the sides at the lines that cross the gap, from top to bottom. */
function bandsOf(cut: Cut): Band[] {
  const others = otherColumns(cut);
  const heightsOf = (piece: Piece) =>
    others.findIndex(({ from, to }) => middleOf(piece) >= from && middleOf(piece) <= to);
  const tagged = [
    ...cut.before.map((piece) => ({ piece, side: 'before' as const })),
    ...cut.after.map((piece) => ({ piece, side: 'after' as const })),
    ...cut.crossing.map((piece) => ({ piece, side: 'crossing' as const })),
  ]
    .map(({ piece, side }) => (heightsOf(piece) < 0 ? { piece, side } : { piece, side: 'other' as const }))
    .sort((a, b) => middleOf(a.piece) - middleOf(b.piece));
  const bands: { kind: string; before: Piece[]; after: Piece[]; crossing: Piece[]; other: Piece[] }[] = [];
  for (const { piece, side } of tagged) {
    const kind =
      side === 'other' ? `other ${String(heightsOf(piece))}` : side === 'crossing' ? side : 'sides';
    let band = bands.at(-1);
    if (band?.kind !== kind) {
      band = { kind, before: [], after: [], crossing: [], other: [] };
      bands.push(band);
    }
    band[side].push(piece);
  }
  return bands.map(({ before, after, crossing, other }) =>
    crossing.length > 0 ? { crossing } : other.length > 0 ? { other } : { before, after },
  );
}

const middleOf = ({ y, height }: Piece): number => y + height / 2;

/** Finds between which heights lines that cross the gap stand beside others: the columns there are parted elsewhere. */
function otherColumns({ before, after, crossing }: Cut): { from: number; to: number }[] {
  const sides = [...before, ...after];
  const found: { from: number; to: number; lines: number }[] = [];
  for (const line of crossing.toSorted((a, b) => a.y - b.y)) {
    if (!sides.some((side) => isBeside(side, line))) continue;
    const last = found.at(-1);
    if (last && line.y - last.to < MAX_APART * line.size) {
      last.to = Math.max(last.to, bottomOf(line));
      last.lines += 1;
    } else found.push({ from: line.y, to: bottomOf(line), lines: 1 });
  }
  return found.filter(({ lines }) => lines >= MIN_LINES);
}

/** Tells whether two lines share a part of their heights. */
const isBeside = (one: Piece, other: Piece): boolean =>
  Math.min(bottomOf(one), bottomOf(other)) - Math.max(one.y, other.y) >
  0.3 * Math.min(one.height, other.height);
