/** How far a baseline that is another within a line may lie off, in sizes of the larger text, and the sizes of shifted text. */
const FARTHEST = 0.8;
const LARGEST_RATIO = 0.95;
const NEAREST = 0.03;

type Matrix = readonly [number, number, number, number, number, number];
const IDENTITY: Matrix = [1, 0, 0, 1, 0, 0];

/** What a page's operators look like, one by one: numbers, names, operators and texts. Texts in brackets are left out. */
const TOKEN = /\((?:[^\\()]|\\[^])*\)|<[0-9a-fA-F\s]*>|\/[^\s/<>[\]()]*|[-+.\d]+|[A-Za-z'"*]+/g;

/**
 * Tells whether operators of a page show text beside larger text on another baseline (ISO 32000-1, 9.4). It may be wrong
 * where text stands below other text by less than a line.
 */
export function mayShift(operators: string): boolean {
  const state = createState();
  const numbers: number[] = [];
  let letters = 0;
  for (const [token] of operators.matchAll(TOKEN)) {
    const code = token.charCodeAt(0);
    if ((code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e) {
      numbers.push(Number(token));
      if (numbers.length > 6) numbers.shift();
      continue;
    }
    if (code === 0x2f) continue;
    if (code === 0x28) letters += token.length - 2;
    else if (code === 0x3c) letters += token.length / 4;
    else {
      SETTERS.get(token)?.(state, numbers);
      if (SHOWS.has(token) && show(state, letters)) return true;
      numbers.length = 0;
      letters = 0;
    }
  }
  return false;
}

interface Shown {
  readonly y: number;
  readonly size: number;
}

/** A short text may be raised beside one that was shown long before it. */
const SHORT = 8;
/** The heights of more lines are not kept. */
const MOST_LINES = 2_000;
const MOST_SAVED = 100;

/** What operators have set so far. */
interface State {
  matrix: Matrix;
  readonly saved: Matrix[];
  text: Matrix;
  line: Matrix;
  size: number;
  leading: number;
  rise: number;
  last: Shown | undefined;
  /** The largest size of the text at each height, in whole units. */
  readonly lines: Map<number, number>;
}

const createState = (): State => ({
  matrix: IDENTITY,
  saved: [],
  text: IDENTITY,
  line: IDENTITY,
  size: 0,
  leading: 0,
  rise: 0,
  last: undefined,
  lines: new Map(),
});

function setLine(state: State, line: Matrix): void {
  state.line = line;
  state.text = line;
}

const move = (state: State, x: number, y: number): void => {
  setLine(state, times([1, 0, 0, 1, x, y], state.line));
};

const nextLine = (state: State): void => {
  move(state, 0, -state.leading);
};

const SETTERS: ReadonlyMap<string, (state: State, numbers: readonly number[]) => void> = new Map([
  [
    'q',
    ({ saved, matrix }: State) => {
      if (saved.length < MOST_SAVED) saved.push(matrix);
    },
  ],
  ['Q', (state: State) => void (state.matrix = state.saved.pop() ?? IDENTITY)],
  [
    'cm',
    (state: State, numbers: readonly number[]) =>
      void (state.matrix = times(toMatrix(numbers), state.matrix)),
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
  ['TL', (state: State, numbers: readonly number[]) => void (state.leading = numbers.at(-1) ?? 0)],
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
  ['Ts', (state: State, numbers: readonly number[]) => void (state.rise = numbers.at(-1) ?? 0)],
  ['Tf', (state: State, numbers: readonly number[]) => void (state.size = numbers.at(-1) ?? 0)],
  ['T*', nextLine],
  ["'", nextLine],
  ['"', nextLine],
]);
const SHOWS = new Set(['Tj', 'TJ', "'", '"']);

/** Takes down that text of about so many letters is shown. @returns whether it may be shifted */
function show(state: State, letters: number): boolean {
  const [, , , d, , f] = times(state.text, state.matrix);
  const shown = { y: f + state.rise * d, size: Math.abs(state.size * d) };
  const { last, lines } = state;
  const isShifted =
    (last !== undefined && areShifted(last, shown)) || (letters <= SHORT && isNearLine(shown, lines));
  state.last = shown;
  const row = Math.round(shown.y);
  if (lines.size < MOST_LINES) lines.set(row, Math.max(shown.size, lines.get(row) ?? 0));
  return isShifted;
}

function isNearLine({ y, size }: Shown, lines: ReadonlyMap<number, number>): boolean {
  for (let row = Math.floor(y) - 12; row <= Math.floor(y) + 12; row += 1) {
    const other = lines.get(row);
    if (other !== undefined && size < other && areShifted({ y, size }, { y: row, size: other })) return true;
  }
  return false;
}

function areShifted(one: Shown, other: Shown): boolean {
  const [small, large] = one.size < other.size ? [one.size, other.size] : [other.size, one.size];
  const off = Math.abs(one.y - other.y);
  return small > 0 && small < large * LARGEST_RATIO && off > NEAREST * large && off < FARTHEST * large;
}

const toMatrix = ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: readonly number[]): Matrix => [
  a,
  b,
  c,
  d,
  e,
  f,
];

function times(one: Matrix, other: Matrix): Matrix {
  const [a, b, c, d, e, f] = one;
  const [A, B, C, D, E, F] = other;
  return [a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F];
}
