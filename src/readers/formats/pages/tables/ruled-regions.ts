import { holds, type Piece } from '../layout/piece.js';
import type { Ruling } from './rulings.js';
import { segmentLines } from './text-columns.js';

/** A region where lines run across a page, one below another, with texts in columns between them. */
export interface RuledRegion {
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

export function ruledRegions(rulings: readonly Ruling[], pieces: readonly Piece[]): RuledRegion[] {
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
    const isFrame = edges.length === 2 && (bottom ?? 0) - (top ?? 0) > HIGHEST_BARE;
    if (top !== undefined && bottom !== undefined && bottom > top && !isFrame)
      regions.push({ x, right, top, bottom, edges });
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
