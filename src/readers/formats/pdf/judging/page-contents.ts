import { mayShift } from '../shifted/may-shift.js';
import type { Objects } from './page-objects.js';
import { isEncrypted, streamsOf } from './streams.js';

export interface PageContents {
  /** True if the file may switch to invisible text (`3 Tr`), which PDFium leaves out. */
  readonly mayBeInvisible: boolean;
  /** True if it fills boxes of the size of words and lines, which may lie over text. */
  readonly mayHaveBars: boolean;
  /** The numbers of the streams that may show raised or lowered text, which PDFium's reader joins with that beside it. */
  readonly shifting: Objects;
  /** True if it draws straight lines and rectangles, which may form tables; also where that cannot be told. */
  readonly mayHaveLines: boolean;
  /** The numbers of the maps of fonts that have characters beyond U+FFFF, which PDFium's reader leaves out. */
  readonly supplementary: Objects;
  /** The numbers of the streams of content of which the beginning alone can be read. */
  readonly brokenOff: ReadonlySet<number>;
}

/** Looks through the operators of all pages of a file. Those of an encrypted file cannot be told: it may have shifted text. */
export function lookThrough(bytes: Uint8Array): PageContents {
  let mayBeInvisible = false;
  let mayHaveBars = false;
  let supplementary: Set<number> | 'any' = isEncrypted(bytes) ? 'any' : new Set();
  let shifting: Set<number> | 'any' = isEncrypted(bytes) ? 'any' : new Set();
  let mayHaveLines: boolean | undefined;
  const brokenOff = new Set<number>();
  for (const { content, object, entries } of streamsOf(bytes, 'content')) {
    if (content === 'breaks off' && object !== undefined && isDrawn(entries)) brokenOff.add(object);
    // pdf.js may read streams that cannot be inflated here.
    const operators = typeof content === 'string' ? undefined : content.toString('latin1');
    if (shifting !== 'any' && (operators === undefined || mayShift(operators))) {
      if (object === undefined || shifting.size >= MAX_SHIFTING) shifting = 'any';
      else shifting.add(object);
    }
    if (operators === undefined) continue;
    mayBeInvisible ||= SETS_INVISIBLE.test(operators);
    mayHaveBars ||= fillsBar(operators);
    if (supplementary !== 'any' && operators.includes('begincmap') && PAIR.test(operators)) {
      if (object === undefined) supplementary = 'any';
      else supplementary.add(object);
    }
    mayHaveLines = mayHaveLines === true || DRAWS_LINE.test(operators);
  }
  return {
    mayBeInvisible,
    mayHaveBars,
    shifting,
    mayHaveLines: mayHaveLines ?? true,
    supplementary,
    brokenOff,
  };
}

/** Tells whether a stream may be the content of a page or a form: a colour profile has a number of components. */
const isDrawn = (entries: string): boolean =>
  /\/Subtype\s{0,9}\/Form\b/.test(entries) || !/\/(?:Type|Subtype|N|FunctionType)\b/.test(entries);

/** A pair of surrogates in a map of a font to Unicode (ISO 32000-1, 9.10.3). */
const PAIR = /<(?:[\da-f]{4}){0,8}d[89ab][\da-f]{2}d[c-f][\da-f]{2}/i;

/** The number of streams that may show such text from which most pages do. */
const MAX_SHIFTING = 100;

/** The operator with its number, which may be written in many ways, and white space and comments between them. */
const SETS_INVISIBLE = /(?<![\d.])0*[37](?:\.0*)?(?:\s|%[^\r\n]{0,100}[\r\n]){1,50}Tr\b/;

/** A rectangle that is filled by itself: rectangles that charts and tables fill in one go are no bars. */
const FILLS_BOX = /\bre\s+(?:[fBb]\*?|F)\s/g;
/** Bars are at least as wide and as high, and at most as high, in units that are often points. */
const [MIN_WIDTH, MIN_HEIGHT, MAX_HEIGHT] = [8, 4, 250];

/** A path that ends with a line or a rectangle, and is painted. */
const DRAWS_LINE = /\b(?:re|l)\s+(?:h\s+)?(?:[SsFfBb]\*?)(?=\s|$)/;

function fillsBar(operators: string): boolean {
  for (const { index } of operators.matchAll(FILLS_BOX)) {
    const [width = 0, height = 0] = operators
      .slice(Math.max(0, index - 50), index)
      .trim()
      .split(/\s+/)
      .slice(-2)
      .map((number) => Math.abs(Number(number)));
    if (width >= MIN_WIDTH && height >= MIN_HEIGHT && height <= MAX_HEIGHT) return true;
  }
  return false;
}
