import { timesMatrix } from './shifted-on-page.js';

/**
 * The greatest distance between different baselines within a line, in sizes of the larger text, and the sizes of shifted
 * text.
 */
const FARTHEST = 0.8;
const MAX_RATIO = 0.95;
const NEAREST = 0.03;
/** The distance from that text, in sizes of it. */
const BESIDE = 0.5;
/** Letters are hardly ever wider, in sizes of their font. */
const MAX_LETTER_WIDTH = 1.2;

type Matrix = readonly [number, number, number, number, number, number];
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** The tokens of a page's operators, one by one: numbers, names, operators and texts. Texts in brackets are left out. */
const TOKEN = /\((?:[^\\()]|\\[^])*\)|<[0-9a-fA-F\s]*>|\/[^\s/<>[\]()]*|[-+.\d]+|[A-Za-z'"*]+/g;

/**
 * Tells whether operators of a page show text beside larger text on another baseline (ISO 32000-1, 9.4). It may be wrong
 * where text stands below other text by less than a line.
 */
export function mayShift(operators: string): boolean {
  const state = createState();
  const numbers: number[] = [];
  let letters = 0;
  let ems = 0;
  for (const [token] of operators.matchAll(TOKEN)) {
    const code = token.charCodeAt(0);
    if ((code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e) {
      const number = Number(token);
      numbers.push(number);
      // Numbers between the letters of an operator TJ move the following text, in thousandths of its size.
      if (number < 0) ems -= number / 1000;
      if (numbers.length > 6) numbers.shift();
      continue;
    }
    if (code === 0x2f) continue;
    if (code === 0x28) {
      letters += token.length - 2;
      ems += (token.length - 2) * MAX_LETTER_WIDTH;
    } else if (code === 0x3c) {
      letters += token.length / 4;
      ems += (token.length / 2) * MAX_LETTER_WIDTH;
    } else {
      SETTERS.get(token)?.(state, numbers);
      if (SHOWS.has(token) && show(state, { letters, ems })) return true;
      numbers.length = 0;
      [letters, ems] = [0, 0];
    }
  }
  return false;
}

interface Shown {
  readonly y: number;
  readonly size: number;
  /** Between which places it stands at most. */
  readonly from: number;
  readonly to: number;
}

/** A short text may be raised beside one that was shown long before it. */
const SHORT = 8;
/** The heights of more lines are not kept. */
const MAX_LINES = 2_000;
/** The number of rows above and below a text that are looked at. Units may be smaller than points. */
const MAX_ROWS = 200;
const MAX_SAVED = 100;

/** The values that operators have set so far. */
interface State {
  matrix: Matrix;
  readonly saved: Matrix[];
  text: Matrix;
  line: Matrix;
  size: number;
  leading: number;
  rise: number;
  /** The distance by which the text shown since the text was placed may have moved on. */
  advance: number;
  /** The widest space that was set between letters or words, and the widest scale. */
  spacing: number;
  scale: number;
  last: Shown | undefined;
  /** The size of the largest text so far. */
  largest: number;
  /** The largest size of the text at each height, in whole units, and between which places it stands. */
  readonly lines: Rows;
  /** The smallest size of short texts, likewise, beside which larger text may be shown later. */
  readonly shorts: Rows;
}

const createState = (): State => ({
  matrix: IDENTITY,
  saved: [],
  text: IDENTITY,
  line: IDENTITY,
  size: 0,
  leading: 0,
  rise: 0,
  advance: 0,
  spacing: 0,
  scale: 1,
  last: undefined,
  largest: 0,
  lines: new Map(),
  shorts: new Map(),
});

function setLine(state: State, line: Matrix): void {
  state.line = line;
  state.text = line;
  state.advance = 0;
}

const move = (state: State, x: number, y: number): void => {
  setLine(state, timesMatrix([1, 0, 0, 1, x, y], state.line));
};

const nextLine = (state: State): void => {
  move(state, 0, -state.leading);
};

/** The last operand; 0 where a broken stream gives none. */
const lastOf = (numbers: readonly number[]): number => numbers.at(-1) ?? 0;

const addSpacing = (state: State, numbers: readonly number[]): void => {
  state.spacing += Math.max(0, lastOf(numbers) - state.spacing);
};

const SETTERS: ReadonlyMap<string, (state: State, numbers: readonly number[]) => void> = new Map([
  [
    'q',
    ({ saved, matrix }: State) => {
      if (saved.length < MAX_SAVED) saved.push(matrix);
    },
  ],
  ['Q', (state: State) => void (state.matrix = state.saved.pop() ?? IDENTITY)],
  [
    'cm',
    (state: State, numbers: readonly number[]) =>
      void (state.matrix = timesMatrix(toMatrix(numbers), state.matrix)),
  ],
  [
    'BT',
    (state: State) => {
      setLine(state, IDENTITY);
    },
  ],
  [
    'Tm',
    (state: State, numbers: readonly number[]) => {
      setLine(state, toMatrix(numbers));
    },
  ],
  ['TL', (state: State, numbers: readonly number[]) => void (state.leading = lastOf(numbers))],
  [
    'TD',
    (state: State, [x = 0, y = 0]: readonly number[]) => {
      state.leading = -y;
      move(state, x, y);
    },
  ],
  [
    'Td',
    (state: State, [x = 0, y = 0]: readonly number[]) => {
      move(state, x, y);
    },
  ],
  ['Ts', (state: State, numbers: readonly number[]) => void (state.rise = lastOf(numbers))],
  ['Tf', (state: State, numbers: readonly number[]) => void (state.size = lastOf(numbers))],
  ['Tc', addSpacing],
  ['Tw', addSpacing],
  [
    'Tz',
    (state: State, numbers: readonly number[]) =>
      void (state.scale = Math.max(state.scale, lastOf(numbers) / 100)),
  ],
  ['T*', nextLine],
  ["'", nextLine],
  ['"', nextLine],
]);
const SHOWS = new Set(['Tj', 'TJ', "'", '"']);

/**
 * Notes that text of about `letters` letters is shown, in `ems` sizes of its font at most. @returns whether it may be
 * shifted
 */
function show(state: State, { letters, ems }: { letters: number; ems: number }): boolean {
  const [a, b, c, d, e, f] = timesMatrix(state.text, state.matrix);
  const [across, up] = [Math.hypot(a, b), Math.hypot(c, d)];
  state.advance += across * state.scale * (ems * Math.abs(state.size) + 2 * letters * state.spacing);
  // Places along and across the direction of the text, so that the places of a turned page are as on others.
  const [x, y] = across === 0 ? [0, 0] : [(e * a + f * b) / across, (f * a - e * b) / across];
  const shown = { y: y + state.rise * up, size: Math.abs(state.size) * up, from: x, to: x + state.advance };
  const { last, lines } = state;
  const isShort = letters <= SHORT;
  const isShifted =
    (last !== undefined && areShifted(last, shown)) ||
    (isShort && isNear(shown, lines, state)) ||
    isNear(shown, state.shorts, state);
  state.last = shown;
  state.largest = Math.max(state.largest, shown.size);
  takeDown(lines, shown, Math.max);
  if (isShort) takeDown(state.shorts, shown, Math.min);
  return isShifted;
}

type Rows = Map<number, Omit<Shown, 'y'>>;

/** Notes where text is at a height, and the largest or smallest of its sizes. */
function takeDown(rows: Rows, { y, size, from, to }: Shown, most: (...sizes: number[]) => number): void {
  const row = Math.round(y);
  const known = rows.get(row);
  if (rows.size < MAX_LINES)
    rows.set(row, {
      size: most(size, known?.size ?? size),
      from: Math.min(from, known?.from ?? from),
      to: Math.max(to, known?.to ?? to),
    });
}

function isNear(shown: Shown, rows: Rows, { largest }: State): boolean {
  const reach = Math.min(MAX_ROWS, Math.ceil(FARTHEST * Math.max(largest, shown.size)));
  for (let row = Math.floor(shown.y) - reach; row <= Math.floor(shown.y) + reach; row += 1) {
    const other = rows.get(row);
    if (other !== undefined && areShifted(shown, { ...other, y: row })) return true;
  }
  return false;
}

function areShifted(one: Shown, other: Shown): boolean {
  const [small, large] = one.size < other.size ? [one.size, other.size] : [other.size, one.size];
  const off = Math.abs(one.y - other.y);
  if (small === 0 || small >= large * MAX_RATIO || off <= NEAREST * large || off >= FARTHEST * large)
    return false;
  return Math.max(one.from - other.to, other.from - one.to) <= BESIDE * large;
}

const toMatrix = ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: readonly number[]): Matrix => [
  a,
  b,
  c,
  d,
  e,
  f,
];
