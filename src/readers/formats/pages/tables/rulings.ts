import type { VectorLine } from '@llamaindex/liteparse';
import { createGroups } from './groups.js';

/** A straight line from one place of a page to another: at a height from left to right, or at an x from top to bottom. */
export interface Ruling {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export interface Rulings {
  readonly across: readonly Ruling[];
  readonly down: readonly Ruling[];
}

/**
 * Lines that are no farther apart are one, such as both edges of a thin rectangle, and the edges of neighbouring filled
 * cells.
 */
const SAME_PLACE = 3;
/** The points by which one line may drift over all segments that are taken for it. */
const MAX_DRIFT = 4;
/** Dashes and the lines of neighbouring cells leave smaller gaps. */
const MAX_GAP = 3;
const MIN_LENGTH = 5;
/** Pages with more lines are drawings, in which no tables are looked for. */
const MAX_LINES = 20_000;
/** Lines that leave the upright by more points are no part of a table. */
const MAX_SLANT = 1;

/**
 * Returns the lines of a page and the edges of its filled shapes, joined where they are at the same place; none of a page
 * that is a drawing.
 */
export function rulingsOf(lines: readonly VectorLine[]): Rulings {
  if (lines.length > MAX_LINES) return { across: [], down: [] };
  const shown = lines.filter(isShown);
  const across = shown.filter(({ y1, y2 }) => Math.abs(y1 - y2) <= MAX_SLANT);
  const down = shown.filter(({ x1, x2 }) => Math.abs(x1 - x2) <= MAX_SLANT);
  return {
    across: joined(across.map(({ x1, x2, y1, y2 }) => rulingOf((y1 + y2) / 2, x1, x2))),
    down: joined(down.map(({ x1, x2, y1, y2 }) => rulingOf((x1 + x2) / 2, y1, y2))),
  };
}

/** White shapes are the ground of pages and texts. */
const isShown = ({ stroke, fillColor = '' }: VectorLine): boolean =>
  stroke || !/^(?:..)?(?:f[a-f]){3}$/i.test(fillColor);

const rulingOf = (at: number, one: number, other: number): Ruling => ({
  at,
  from: Math.min(one, other),
  to: Math.max(one, other),
});

function joined(rulings: readonly Ruling[]): Ruling[] {
  const places: Ruling[][] = [];
  let first = -Infinity;
  let last = -Infinity;
  for (const ruling of rulings.toSorted((a, b) => a.at - b.at)) {
    if (ruling.at - last <= SAME_PLACE && ruling.at - first <= MAX_DRIFT) places.at(-1)?.push(ruling);
    else {
      places.push([ruling]);
      first = ruling.at;
    }
    last = ruling.at;
  }
  return places.flatMap(inOneLine).filter(({ from, to }) => to - from >= MIN_LENGTH);
}

/** Joins lines at the same place where no gap parts them. */
function inOneLine(rulings: readonly Ruling[]): Ruling[] {
  const at = rulings.reduce((sum, ruling) => sum + ruling.at, 0) / rulings.length;
  const lines: Ruling[] = [];
  for (const { from, to } of rulings.toSorted((a, b) => a.from - b.from)) {
    const last = lines.at(-1);
    if (last && from - last.to <= MAX_GAP) lines[lines.length - 1] = { ...last, to: Math.max(last.to, to) };
    else lines.push({ at, from, to });
  }
  return lines;
}

/** Tells whether lines at a place cover most of the distance between two others. */
export function isRuled(rulings: readonly Ruling[], { at, from, to }: Ruling, least = 0.6): boolean {
  let covered = 0;
  for (const ruling of rulings)
    if (Math.abs(ruling.at - at) <= SAME_PLACE)
      covered += Math.max(0, Math.min(to, ruling.to) - Math.max(from, ruling.from));
  return covered >= least * (to - from);
}

/** Most pairs of lines that are compared. */
const MAX_COMPARED = 4_000_000;

/** Groups lines that meet, such as the lines of a table. */
export function meetingRulings({ across, down }: Rulings): Rulings[] {
  if (across.length * down.length > MAX_COMPARED) return [];
  const groups = createGroups(across.length + down.length);
  for (const [index, one] of across.entries())
    for (const [at, other] of down.entries()) if (meet(one, other)) groups.join(index, across.length + at);
  const found = new Map<number, { across: Ruling[]; down: Ruling[] }>();
  const groupOf = (index: number) => {
    const key = groups.find(index);
    const group = found.get(key) ?? { across: [], down: [] };
    found.set(key, group);
    return group;
  };
  for (const [index, ruling] of across.entries()) groupOf(index).across.push(ruling);
  for (const [index, ruling] of down.entries()) groupOf(across.length + index).down.push(ruling);
  return [...found.values()];
}

const meet = (across: Ruling, down: Ruling): boolean =>
  down.at >= across.from - SAME_PLACE &&
  down.at <= across.to + SAME_PLACE &&
  across.at >= down.from - SAME_PLACE &&
  across.at <= down.to + SAME_PLACE;
