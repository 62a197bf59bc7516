import { at, addTo, sumOf } from '../../../shared/at.js';
import type { Rectangle } from '../../blocks/location.js';
import { joinLines, rowsOf } from './layout/lines.js';
import { around, median, rightOf, MAX_SPACE, type Piece } from './layout/piece.js';

/**
 * Degrees, clockwise, between which a page counts as askew: a page that lies less askew is read well as it is, one that
 * lies more askew came from no scanner.
 */
const MIN = 0.3;
const MAX = 10;
/** Fewer words that stand beside each other tell nothing. */
const MIN_PAIRS = 12;
/** The heights of words without and with long letters differ by this much, as degrees between the middles of two words. */
const UNEVEN = 1.5;
const STEP = 0.5;
/** Sizes that are told by boxes around words askew are as good as the usual one if they differ from it by no more than this. */
const SAME_SIZE = 1.25;
/** The number of pieces that are compared with each one, among the pieces that begin where it ends. */
const MAX_COMPARED = 200;

interface Pair {
  readonly from: Piece;
  readonly to: Piece;
  /** The angle from the middle of one piece to the middle of the other, in degrees below the horizontal. */
  readonly angle: number;
  readonly distance: number;
}

/** A page that lies askew, by degrees clockwise around its middle. */
export interface Skewed {
  readonly skew: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the degrees by which the lines of recognized words fall to the right; 0 for a small angle, or where few words
 * agree.
 */
export function skewOf(pieces: readonly Piece[], fewestPairs = MIN_PAIRS): number {
  const pairs = pairsOf(pieces);
  const usual = mostUsual(pairs);
  const agreed = pairs.filter(({ angle }) => Math.abs(angle - usual) <= UNEVEN);
  const beside = new Set(pairs.map(({ from }) => from)).size;
  const agreeing = new Set(agreed.map(({ from }) => from)).size;
  if (agreeing < fewestPairs || agreeing * 2 < beside) return 0;
  const angle = weightedMedian(linesOf(agreed, usual));
  return Math.abs(angle) >= MIN && Math.abs(angle) <= MAX ? angle : 0;
}

/** Pairs each piece with the pieces that begin where a word after it may. Some are on the lines above and below. */
function pairsOf(pieces: readonly Piece[]): Pair[] {
  const size = median(pieces.map((piece) => piece.size));
  const sorted = pieces.filter(({ isTurned }) => !isTurned).toSorted((a, b) => a.x - b.x);
  return sorted.flatMap((from) => {
    const nearest = firstFrom(sorted, rightOf(from) - size * 0.3);
    return sorted
      .slice(nearest, nearest + MAX_COMPARED)
      .filter((to) => to.x > from.x && to.x - rightOf(from) <= MAX_SPACE * size)
      .map((to) => pairOf(from, to))
      .filter(({ angle }) => Math.abs(angle) <= MAX + UNEVEN);
  });
}

function firstFrom(sorted: readonly Piece[], x: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(sorted, middle).x < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

function pairOf(from: Piece, to: Piece): Pair {
  const across = to.x + to.width / 2 - from.x - from.width / 2;
  const down = to.y + to.height / 2 - from.y - from.height / 2;
  return { from, to, angle: (Math.atan2(down, across) * 180) / Math.PI, distance: Math.hypot(across, down) };
}

/** The angle about which the most pairs agree. Those with words of other lines agree about none. */
function mostUsual(pairs: readonly Pair[]): number {
  const weights = new Map<number, number>();
  for (const { angle, distance } of pairs) {
    const middle = Math.round(angle / STEP);
    for (let step = middle - 2; step <= middle + 2; step += 1) addTo(weights, step, distance);
  }
  let best = 0;
  for (const [step, weight] of weights) if (weight > sumOf(weights, best)) best = step;
  return best * STEP;
}

/** The first and the last piece of each line, which are far apart, so that uneven heights matter little. */
function linesOf(agreed: readonly Pair[], usual: number): Pair[] {
  const next = new Map<Piece, Pair>();
  const off = ({ angle }: Pair) => Math.abs(angle - usual);
  for (const pair of agreed) {
    const known = next.get(pair.from);
    if (!known || off(pair) < off(known)) next.set(pair.from, pair);
  }
  const firsts = new Map<Piece, Piece>();
  for (const { from, to } of next.values()) firsts.set(to, firsts.get(from) ?? from);
  return [...firsts].filter(([last]) => !next.has(last)).map(([last, first]) => pairOf(first, last));
}

function weightedMedian(pairs: readonly Pair[]): number {
  const half = pairs.reduce((sum, { distance }) => sum + distance, 0) / 2;
  let sum = 0;
  for (const { angle, distance } of pairs.toSorted((a, b) => a.angle - b.angle)) {
    sum += distance;
    if (sum >= half) return angle;
  }
  return 0;
}

/** The pieces where they would stand if the page lay straight. */
export function straightened(pieces: readonly Piece[], page: Skewed): Piece[] {
  const sin = Math.sin((Math.abs(page.skew) * Math.PI) / 180);
  const cos = Math.sqrt(1 - sin * sin);
  const straight = pieces.map((piece) => {
    // A box around a text that lies askew is larger than the text: this undoes it.
    const width = (piece.width * cos - piece.height * sin) / (cos * cos - sin * sin);
    const height = (piece.height * cos - piece.width * sin) / (cos * cos - sin * sin);
    const { x, y } = turned(middleOf(piece), { ...page, skew: -page.skew });
    const [wide, high] = [Math.max(width, piece.width / 2), Math.max(height, piece.height / 2)];
    const size = (piece.size * high) / piece.height;
    return { ...piece, x: x - wide / 2, y: y - high / 2, width: wide, height: high, size };
  });
  return withEvenSizes(straight);
}

/**
 * Gives lines of nearly the usual size that size, so that they stay paragraphs, and none becomes a heading: the boxes around
 * words that lie askew often reach into the line below.
 */
function withEvenSizes(pieces: readonly Piece[]): Piece[] {
  const rows = rowsOf(pieces).map((row) => {
    const sizes = row.map(({ size }) => size);
    return { row, middle: median(sizes), largest: Math.max(...sizes.slice(0, MAX_COMPARED)) };
  });
  const middle = median(rows.map((row) => row.middle));
  const usual = median(rows.map(({ largest }) => largest));
  const even = (piece: Piece): Piece => {
    const height = (piece.height * usual) / piece.size;
    return { ...piece, y: middleOf(piece).y - height / 2, height, size: usual };
  };
  return rows.flatMap(({ row, ...sizes }) => {
    const isUsual = sizes.middle <= middle * SAME_SIZE && sizes.middle * SAME_SIZE >= middle;
    return isUsual ? row.map(even) : row;
  });
}

/** Returns the upright rectangle around the form that a rectangle of the straight page has on the page that lies askew. */
export function setAskew(box: Rectangle, page: Skewed): Rectangle {
  const [right, bottom] = [rightOf(box), box.y + box.height];
  const corners = [box.x, right].flatMap((x) => [box.y, bottom].map((y) => turned({ x, y }, page)));
  return around(corners.map((corner) => ({ ...corner, width: 0, height: 0 })));
}

/** The lines of straightened pieces, each about where its middle stands on the page that lies askew. */
export function linesAskew(pieces: readonly Piece[], page: Skewed): Piece[] {
  return joinLines(pieces).map((line) => {
    const { x, width, ...around } = setAskew(line, page);
    return { ...line, x, width, y: middleOf({ x, width, ...around }).y - line.height / 2 };
  });
}

const middleOf = ({ x, y, width, height }: Rectangle) => ({ x: x + width / 2, y: y + height / 2 });

function turned({ x, y }: Pick<Rectangle, 'x' | 'y'>, { skew, width, height }: Skewed) {
  const angle = (skew * Math.PI) / 180;
  const [across, down] = [x - width / 2, y - height / 2];
  return {
    x: width / 2 + across * Math.cos(angle) - down * Math.sin(angle),
    y: height / 2 + across * Math.sin(angle) + down * Math.cos(angle),
  };
}
