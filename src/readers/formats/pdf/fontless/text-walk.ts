import '../pdfjs/pdf-globals.js';
import { OPS } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { timesMatrix } from '../shifted/shifted-on-page.js';

type Matrix = readonly [number, number, number, number, number, number];

/** The operators of a page as pdf.js gives them. */
export interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** The state in which an operator shows a text (ISO 32000-1, 8.4 and 9.3). */
export interface TextState {
  /** From units of the text to those of the page. */
  readonly matrix: Matrix;
  /** The name by which the page calls the font. */
  readonly font: string;
  readonly size: number;
  readonly characterSpacing: number;
  readonly wordSpacing: number;
  readonly scale: number;
  readonly rise: number;
  readonly mode: number;
  /** Six hexadecimal digits; undefined for patterns. */
  readonly color: string | undefined;
  readonly opacity: number;
  /** True if a layer that is off holds the text. */
  readonly isOff: boolean;
}

interface Settings extends Omit<TextState, 'matrix' | 'isOff'> {
  readonly page: Matrix;
  readonly leading: number;
}

const SAME: Matrix = [1, 0, 0, 1, 0, 0];
const INITIAL: Settings = {
  page: SAME,
  font: '',
  size: 0,
  characterSpacing: 0,
  wordSpacing: 0,
  scale: 1,
  leading: 0,
  rise: 0,
  mode: 0,
  color: '000000',
  opacity: 1,
};

/** The place of an interpreter between the operators of a page. */
interface Walk {
  settings: Settings;
  readonly saved: Settings[];
  line: Matrix;
  /** For each part of marked content that is open: true if it is on a layer that is off. */
  readonly marks: boolean[];
  /** The number of annotations that are open. */
  annotations: number;
  readonly isVisible: (layer: unknown) => boolean;
}

type Step = (walk: Walk, args: readonly unknown[]) => void;

const set = (walk: Walk, changed: Partial<Settings>): void => {
  walk.settings = { ...walk.settings, ...changed };
};
/** A number of an operator; 0 where a broken stream does not give it. */
const operand = (args: unknown, index: number): number => numbersOf(args)[index] ?? 0;
const setNumber =
  (name: 'characterSpacing' | 'wordSpacing' | 'rise' | 'mode' | 'leading'): Step =>
  (walk, args) => {
    set(walk, { [name]: operand(args, 0) });
  };
const move: Step = (walk, args) => {
  const [x = 0, y = 0] = numbersOf(args);
  walk.line = timesMatrix([1, 0, 0, 1, x, y], walk.line);
};
const save: Step = ({ saved, settings }) => saved.push(settings);
const restore: Step = (walk) => {
  walk.settings = walk.saved.pop() ?? walk.settings;
};
const transform: Step = (walk, args) => {
  const numbers = numbersOf(args).slice(0, 6);
  if (numbers.length === 6) set(walk, { page: timesMatrix(numbers, walk.settings.page) });
};
const setFont = (walk: Walk, [font, size]: readonly unknown[]): void => {
  if (typeof font === 'string') set(walk, { font, size: operand(size, 0) });
};
const setStates: Step = (walk, [states]) => {
  for (const state of Array.isArray(states) ? states.map(listOf) : []) {
    if (state[0] === 'Font') setFont(walk, listOf(state[1]));
    if (state[0] === 'ca') set(walk, { opacity: numbersOf(state[1])[0] ?? 1 });
  }
};
const mark: Step = ({ marks, isVisible }, [tag, layer]) => marks.push(tag === 'OC' && !isVisible(layer));

const STEPS: ReadonlyMap<number, Step> = new Map<number, Step>([
  [OPS.save, save],
  [OPS.restore, restore],
  [OPS.transform, transform],
  [
    OPS.paintFormXObjectBegin,
    (walk, [matrix]) => {
      save(walk, []);
      transform(walk, [matrix]);
    },
  ],
  [OPS.paintFormXObjectEnd, restore],
  [OPS.beginAnnotation, (walk) => (walk.annotations += 1)],
  [OPS.endAnnotation, (walk) => (walk.annotations -= 1)],
  [OPS.beginText, (walk) => (walk.line = SAME)],
  [OPS.setFont, setFont],
  [OPS.setGState, setStates],
  [OPS.setCharSpacing, setNumber('characterSpacing')],
  [OPS.setWordSpacing, setNumber('wordSpacing')],
  [OPS.setHScale, (walk, args) => set(walk, { scale: (numbersOf(args)[0] ?? 100) / 100 })],
  [OPS.setLeading, setNumber('leading')],
  [OPS.setTextRise, setNumber('rise')],
  [OPS.setTextRenderingMode, setNumber('mode')],
  [OPS.moveText, move],
  [
    OPS.setLeadingMoveText,
    (walk, args) => {
      set(walk, { leading: -operand(args, 1) });
      move(walk, args);
    },
  ],
  [
    OPS.setTextMatrix,
    (walk, args) => {
      walk.line = timesMatrix(numbersOf(args), SAME);
    },
  ],
  [OPS.nextLine, (walk) => move(walk, [0, -walk.settings.leading])],
  [
    OPS.setFillRGBColor,
    (walk, [color]) =>
      set(walk, { color: typeof color === 'string' ? /[\da-f]{6}/i.exec(color)?.[0] : undefined }),
  ],
  [OPS.setFillColorN, (walk) => set(walk, { color: undefined })],
  [OPS.setFillTransparent, (walk) => set(walk, { color: undefined })],
  [OPS.beginMarkedContent, mark],
  [OPS.beginMarkedContentProps, mark],
  [OPS.endMarkedContent, ({ marks }) => marks.pop()],
]);

/**
 * Passes on the texts that the operators of a page show, with their states, but none of annotations. Texts one after
 * another without a place of their own begin where `show` says that the one before ends.
 * @param show returns how far the text moves the place of the next one, in units of the text
 */
export function walkTexts(
  { fnArray, argsArray }: Operators,
  isVisible: (layer: unknown) => boolean,
  show: (glyphs: readonly unknown[], state: TextState) => { readonly x: number; readonly y: number },
): void {
  const walk: Walk = { settings: INITIAL, saved: [], line: SAME, marks: [], annotations: 0, isVisible };
  let moved = { x: 0, y: 0 };
  for (const [at, operator] of fnArray.entries()) {
    const args = listOf(argsArray[at]);
    if (operator !== OPS.showText) {
      if (PLACES.has(operator)) moved = { x: 0, y: 0 };
      STEPS.get(operator)?.(walk, args);
    } else if (walk.annotations === 0) {
      const { page, ...settings } = walk.settings;
      const matrix = timesMatrix(timesMatrix([1, 0, 0, 1, moved.x, moved.y], walk.line), page);
      const { x, y } = show(listOf(args[0]), { ...settings, matrix, isOff: walk.marks.includes(true) });
      moved = { x: moved.x + x, y: moved.y + y };
    }
  }
}

/** Operators that set the place of the next text. */
const PLACES: ReadonlySet<number> = new Set([
  OPS.beginText,
  OPS.moveText,
  OPS.setLeadingMoveText,
  OPS.setTextMatrix,
  OPS.nextLine,
]);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function numbersOf(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (value instanceof Float32Array) return [...value];
  return listOf(value).flatMap(numbersOf);
}
