import type { Declarations } from './declarations.js';

/** The way in which a box cuts off its text. */
export type Clipping = 'cut off' | typeof FOR_SCREEN_READERS;

/** Text that pages move out of sight for people whom a program reads them aloud. They read it, so that it is no hidden text. */
export const FOR_SCREEN_READERS = 'only for screen readers, read all the same';

const BLOCKS = new Set(
  'address article aside blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary ul'.split(
    ' ',
  ),
);
const BLOCK_DISPLAYS = new Set(
  'block inline-block flow-root flex inline-flex grid inline-grid list-item'.split(' '),
);
const OUT_OF_FLOW = new Set(['absolute', 'fixed']);

/** Percentages are not meant: without a height that is known, they are no height. */
const NOTHING = /^[+-]?(?:0+(?:\.0*)?|\.0+)(?:px|pt|pc|in|cm|mm|q|r?em|ex|ch|v[hw])?$/;
const UP_TO_A_PIXEL = /^(?:[01](?:\.0*)?|0?\.\d+)px$/;
const PADDINGS = ['padding', 'padding-top', 'padding-bottom', 'padding-left', 'padding-right'];
/** Properties that may give a box another size than its width and height say. Their values are not followed. */
const OTHER_SIZES = (
  'flex flex-grow flex-basis block-size inline-size min-block-size min-inline-size aspect-ratio ' +
  'padding-block padding-block-start padding-block-end padding-inline padding-inline-start padding-inline-end'
).split(' ');

const isNothing = (value: string | undefined): boolean => value !== undefined && NOTHING.test(value);

/** Tells whether sizes hold for an element; they do not for text within a line. */
export function isBox(element: string, declared: Declarations): boolean {
  // The window decides about content that overflows the body.
  if (element === 'body' || element === 'html') return false;
  if (OUT_OF_FLOW.has(declared.get('position') ?? '')) return true;
  const display = declared.get('display');
  return display === undefined ? BLOCKS.has(element) : BLOCK_DISPLAYS.has(display);
}

/** Tells whether an element changes by and by, as elements do that a reader of the page can open. */
export const isTransient = (declared: Declarations): boolean =>
  ['transition', 'transition-property', 'transition-duration'].some(
    (name) => !['none', '0s', undefined].includes(declared.get(name)),
  );

/**
 * Returns the way in which an element cuts off its content; undefined where it shows some of it, or where that cannot be
 * known.
 */
export function clippingOf(element: string, declared: Declarations): Clipping | undefined {
  if (!isBox(element, declared) || isTransient(declared)) return undefined;
  const isOutOfFlow = OUT_OF_FLOW.has(declared.get('position') ?? '');
  if (isOutOfFlow && isTinyBox(declared)) return FOR_SCREEN_READERS;
  if (isClippedAway(declared, isOutOfFlow)) return 'cut off';
  // A set of fields is never smaller than its content.
  if (element === 'fieldset' || OTHER_SIZES.some((name) => declared.has(name))) return undefined;
  const isFlat = isShut(declared, 'height', 'overflow-y') || isShut(declared, 'width', 'overflow-x');
  return isFlat && !isPadded(declared) ? 'cut off' : undefined;
}

/**
 * Tells whether a box has a pixel, or less: pages address screen readers by such boxes. Browsers do not read out a box
 * without any size.
 */
function isTinyBox(declared: Declarations): boolean {
  const [width, height] = [declared.get('width') ?? '', declared.get('height') ?? ''];
  const isPixel = (value: string): boolean => UP_TO_A_PIXEL.test(value) && !NOTHING.test(value);
  return isOverflowHidden(declared, 'overflow-y') && (isPixel(width) || isPixel(height));
}

/** Tells whether clipping hides the content. `clip` holds for elements out of the flow alone. */
function isClippedAway(declared: Declarations, isOutOfFlow: boolean): boolean {
  const path = declared.get('clip-path') ?? '';
  const inset = /^inset\(\s*(\d+(?:\.\d+)?)%\s*\)$/.exec(path)?.[1];
  if (inset !== undefined && Number(inset) >= 50) return true;
  if (/^circle\(\s*0(?:px|%)?\s*\)$/.test(path)) return true;
  const sides = /^rect\(([^()]*)\)$/.exec(declared.get('clip') ?? '')?.[1];
  if (!isOutOfFlow || sides === undefined) return false;
  const [top, right, bottom, left] = sides.trim().split(/[\s,]+/);
  return isEmptySpan(top, bottom) || isEmptySpan(left, right);
}

/** Lengths of different units cannot be compared, but for nothing at all. */
function isEmptySpan(from = '', to = ''): boolean {
  if (isNothing(from) && isNothing(to)) return true;
  const [start, end] = [lengthOf(from), lengthOf(to)];
  return start !== null && end !== null && start.unit === end.unit && end.number <= start.number;
}

function lengthOf(value: string): { number: number; unit: string } | null {
  const [, number = '', unit = ''] = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))([a-z]*)$/.exec(value) ?? [];
  return number === '' ? null : { number: Number(number), unit };
}

function isShut(declared: Declarations, size: 'height' | 'width', overflow: string): boolean {
  const least = declared.get(`min-${size}`);
  const isNone = isNothing(declared.get(size)) || isNothing(declared.get(`max-${size}`));
  return isNone && (least === undefined || isNothing(least)) && isOverflowHidden(declared, overflow);
}

function isOverflowHidden(declared: Declarations, axis: string): boolean {
  const values = [declared.get('overflow'), declared.get(axis)].filter((value) => value !== undefined);
  return values.length > 0 && values.every((value) => /^(?:hidden|clip)(?: (?:hidden|clip))?$/.test(value));
}

/** A padding is a part of the box in which text is shown. */
const isPadded = (declared: Declarations): boolean =>
  PADDINGS.some((name) => declared.has(name) && !isNothing(declared.get(name)));
