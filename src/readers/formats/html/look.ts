import { alphaOf, cssColor, WHITE, type Color } from '../visibility/colors.js';
import type { Unseen } from '../visibility/hidden-counter.js';
import { MAX_UNSEEN_OPACITY, MIN_SIZE, type RunStyle } from '../visibility/reason-unseen.js';
import { LISTS } from './html-lists.js';
import { valueOrEmpty, UNKNOWN, type Declarations } from './declarations.js';

/** The properties of an element that decide whether its text is seen. */
export interface Look {
  /** The reason why nothing inside is seen, whatever the inside says itself. */
  readonly kind: Unseen | undefined;
  /** The way in which a box cuts off all text in it that is not out of its flow. */
  readonly clipping: 'cut' | 'aloud' | undefined;
  /** The size of letters in points, as far as it is known. */
  readonly size: number | undefined;
  /** The size that the root declares, likewise. */
  readonly rootSize: number | undefined;
  /** The least opacity of the elements around, from 0 to 1. */
  readonly opacity: number;
  readonly isInvisible: boolean;
  readonly isIndented: boolean;
  readonly color: Color | 'transparent' | undefined;
  /** Undefined where it cannot be known. */
  readonly background: Color | undefined;
  /** True if more of text is drawn than its colour, such as a shadow. */
  readonly isDressed: boolean;
  /** The first font that is asked for; undefined where none is, or it cannot be known. */
  readonly font: string | undefined;
  /** The marks of list items where a style sets them; undefined elsewhere. */
  readonly listStyle: string | undefined;
}

export const PAGE: Look = {
  kind: undefined,
  clipping: undefined,
  size: undefined,
  rootSize: undefined,
  opacity: 1,
  isInvisible: false,
  isIndented: false,
  // The colour that text has unless it is told: not known, since attributes of `body` and other sheets set it.
  color: undefined,
  background: WHITE,
  isDressed: false,
  font: undefined,
  listStyle: undefined,
};
/** Pixels beyond which text is moved off the page. */
const FAR_AWAY = -999;
const KEPT = new Set(['inherit', 'unset', 'currentcolor']);
const DRESSES = [
  'text-shadow',
  'background-clip',
  '-webkit-background-clip',
  '-webkit-text-fill-color',
  '-webkit-text-stroke',
  '-webkit-text-stroke-width',
  'mix-blend-mode',
];

/** The style of text, for the judge of what is seen. */
export function styleOf(look: Look): RunStyle {
  const { kind, clipping, size, opacity, color, background } = look;
  // The colour of text decides nothing where more than that is drawn, or where the text is read aloud.
  const isFlat = !look.isDressed && clipping === undefined;
  return {
    off: kind ?? offOf(look),
    size,
    isReadAloud: clipping === 'aloud',
    opacity: isFlat && color === 'transparent' ? 0 : opacity,
    color: isFlat && color !== 'transparent' ? color : undefined,
    behind: () => background,
  };
}

function offOf({ clipping, isInvisible, isIndented }: Look): Unseen | undefined {
  if (clipping === 'cut') return clipping;
  if (isInvisible) return 'off';
  return isIndented ? 'outside' : undefined;
}

/** Tells whether nothing of an element is drawn, whatever the look of its text is. */
export const isUndrawn = ({ kind, opacity }: Look): boolean =>
  kind !== undefined || opacity <= MAX_UNSEEN_OPACITY;

/** @param element the name of the element, which tells whether it is a box or a part of a line */
export function lookWithin(outer: Look, declared: Declarations, element: string): Look {
  const visibility = declared.get('visibility');
  const indent = declared.get('text-indent');
  const isAnimated = ['animation', 'animation-name'].some((name) => isSet(declared.get(name)));
  const size = isAnimated ? undefined : sizeOf(declared.get('font-size'), outer, element === 'html');
  return {
    kind: outer.kind ?? kindOf(declared, element, isAnimated),
    clipping: isAnimated ? undefined : clippingWithin(outer, declared, element),
    size,
    rootSize: element === 'html' ? size : outer.rootSize,
    opacity: isAnimated ? outer.opacity : Math.min(outer.opacity, opacityOf(declared.get('opacity'))),
    isInvisible:
      visibility === undefined || isAnimated
        ? outer.isInvisible && !isAnimated
        : visibility === 'hidden' || visibility === 'collapse',
    isIndented:
      indent === undefined ? outer.isIndented : !isAnimated && Number.parseFloat(indent) <= FAR_AWAY,
    color: isAnimated ? undefined : colorOf(declared.get('color'), outer.color),
    background: isAnimated ? undefined : backgroundOf(declared, outer.background),
    isDressed: outer.isDressed || DRESSES.some((name) => isSet(declared.get(name))),
    font: fontOf(declared.get('font-family'), outer.font),
    listStyle: listStyleOf(declared.get('list-style-type'), LISTS.has(element) ? undefined : outer.listStyle),
  };
}

function fontOf(families: string | undefined, outer: string | undefined): string | undefined {
  if (families === undefined || families === UNKNOWN || KEPT.has(families)) return outer;
  return families.split(',')[0];
}

function listStyleOf(value: string | undefined, outer: string | undefined): string | undefined {
  if (value === undefined || value === 'inherit' || value === UNKNOWN) return outer;
  return value === '' || value === 'none' ? undefined : value;
}

const isSet = (value: string | undefined): boolean =>
  value !== undefined && !['', 'none', 'normal', 'border-box', 'initial'].includes(value);

/** Returns the clipping within an element. An element out of the flow may stand outside of the box that cuts the rest off. */
function clippingWithin({ clipping }: Look, declared: Declarations, element: string): Look['clipping'] {
  const outer = mayLeaveFlow(declared) ? undefined : clipping;
  return outer === 'cut' ? outer : (clippingOf(element, declared) ?? outer);
}

const SCALED_AWAY = /\bscale(?:3d|x|y)?\(\s*[+-]?(?:0+(?:\.0*)?|\.0+)%?\s*[,)]/;

function isScaledAway(declared: Declarations, element: string): boolean {
  if (!isBox(element, declared) || isTransient(declared)) return false;
  return (
    SCALED_AWAY.test(valueOrEmpty(declared, 'transform')) ||
    /^0+(?:\.0*)?%?(?:\s|$)/.test(valueOrEmpty(declared, 'scale'))
  );
}

function kindOf(declared: Declarations, element: string, isAnimated: boolean): Unseen | undefined {
  if (declared.get('display') === 'none') return 'off';
  if (isAnimated) return undefined;
  if (isScaledAway(declared, element)) return 'tiny';
  if (!leavesFlow(declared)) return undefined;
  const sides = ['left', 'top', 'right', 'bottom'];
  const isFar = sides.some((side) => Number.parseFloat(declared.get(side) ?? '0') <= FAR_AWAY);
  return isFar && clippingOf(element, declared) !== 'aloud' ? 'outside' : undefined;
}

/** Opacities that are not understood hide nothing. */
function opacityOf(value = '1'): number {
  const opacity = Number.parseFloat(value) / (value.endsWith('%') ? 100 : 1);
  return Number.isNaN(opacity) ? 1 : opacity;
}

/** Points of the units of sizes. */
const POINTS: ReadonlyMap<string, number> = new Map([
  ['pt', 1],
  ['px', 0.75],
  ['pc', 12],
  ['in', 72],
  ['cm', 72 / 2.54],
  ['mm', 72 / 25.4],
  ['q', 72 / 101.6],
]);
/** Shares of the size around. */
const SHARES: ReadonlyMap<string, number> = new Map([
  ['em', 1],
  ['ex', 0.5],
  ['%', 0.01],
]);
/** The size in points that a share is of which the root declares. */
const USUAL_SIZE = 12;
/** Stands for a size around that is not known, so that shares of it below a tenth are tiny. */
const UNKNOWN_SIZE = 20;

/** Returns a size in points; undefined where it is not known. */
function sizeOf(size: string | undefined, outer: Look, isRoot: boolean): number | undefined {
  if (size === undefined || size === 'inherit') return outer.size;
  const [, number = '', unit = ''] = /^((?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)$/.exec(size) ?? [];
  if (number === '') return undefined;
  const amount = Number(number);
  if (amount === 0) return 0;
  // Browsers pass over a number alone, but in pages without a document type.
  if (unit === '') return outer.size;
  if (unit === 'rem') return ofRoot(amount, isRoot ? USUAL_SIZE : outer.rootSize);
  const share = SHARES.get(unit);
  const around = isRoot ? USUAL_SIZE : (outer.size ?? UNKNOWN_SIZE);
  const points = share === undefined ? POINTS.get(unit) : share * around;
  return points === undefined ? undefined : amount * points;
}

/** Pages whose scripts set the size of the root, such as to 100 pixels, have all their text in small shares of it. */
function ofRoot(amount: number, size: number | undefined): number | undefined {
  if (size !== undefined) return amount * size;
  return amount * UNKNOWN_SIZE < MIN_SIZE ? 0 : undefined;
}

function colorOf(value: string | undefined, outer: Look['color']): Look['color'] {
  if (value === undefined || KEPT.has(value)) return outer;
  return alphaOf(value) <= MAX_UNSEEN_OPACITY ? 'transparent' : cssColor(value);
}

function backgroundOf(declared: Declarations, outer: Color | undefined): Color | undefined {
  const image = declared.get('background-image');
  if (image !== undefined && !['none', 'initial', 'unset'].includes(image)) return undefined;
  const value = declared.get('background-color');
  const own = value === undefined ? outer : fillOf(value, outer);
  if (value !== undefined && own !== outer) return own;
  return isMoved(declared) ? undefined : own;
}

function fillOf(value: string, outer: Color | undefined): Color | undefined {
  if (['none', 'inherit', 'initial', 'unset', ''].includes(value)) return outer;
  if (alphaOf(value) === 0) return outer;
  const [first = ''] = value.split(' ');
  return cssColor(value) ?? (alphaOf(first) === 0 ? outer : cssColor(first));
}

/** Tells whether an element may lie over something else than its outer element. */
function isMoved(declared: Declarations): boolean {
  if (mayLeaveFlow(declared)) return true;
  if (['transform', 'translate', 'grid-area', 'grid-row'].some((name) => isSet(declared.get(name))))
    return true;
  return ['margin', 'margin-top', 'margin-left'].some((name) =>
    /-[\d.]|unknown/.test(valueOrEmpty(declared, name)),
  );
}

const BLOCKS = new Set(
  'address article aside blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary ul'.split(
    ' ',
  ),
);
const BLOCK_DISPLAYS = new Set(
  'block inline-block flow-root flex inline-flex grid inline-grid list-item'.split(' '),
);
const OUT_OF_FLOW = new Set(['absolute', 'fixed']);

const leavesFlow = (declared: Declarations): boolean => OUT_OF_FLOW.has(valueOrEmpty(declared, 'position'));
const mayLeaveFlow = (declared: Declarations): boolean =>
  leavesFlow(declared) || declared.get('position') === UNKNOWN;

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
  if (leavesFlow(declared)) return true;
  const display = declared.get('display');
  return display === undefined ? BLOCKS.has(element) : BLOCK_DISPLAYS.has(display);
}

/** Tells whether an element changes by and by, as elements do that a reader of the page can open. */
const isTransient = (declared: Declarations): boolean =>
  ['transition', 'transition-property', 'transition-duration'].some(
    (name) => !['none', '0s', undefined].includes(declared.get(name)),
  );

/**
 * Returns the way in which an element cuts off its content; undefined where it shows some of it, or where that cannot be
 * known.
 */
function clippingOf(element: string, declared: Declarations): Look['clipping'] {
  if (!isBox(element, declared) || isTransient(declared)) return undefined;
  const isOutOfFlow = leavesFlow(declared);
  if (isOutOfFlow && isTinyBox(declared)) return 'aloud';
  if (isClippedAway(declared, isOutOfFlow)) return 'cut';
  // A set of fields is never smaller than its content.
  if (element === 'fieldset' || OTHER_SIZES.some((name) => declared.has(name))) return undefined;
  const isFlat = isShut(declared, 'height', 'overflow-y') || isShut(declared, 'width', 'overflow-x');
  return isFlat && !isPadded(declared) ? 'cut' : undefined;
}

/**
 * Tells whether a box has a pixel, or less: pages address screen readers by such boxes. Browsers do not read out a box
 * without any size.
 */
function isTinyBox(declared: Declarations): boolean {
  const [width, height] = [valueOrEmpty(declared, 'width'), valueOrEmpty(declared, 'height')];
  const isPixel = (value: string): boolean => UP_TO_A_PIXEL.test(value) && !NOTHING.test(value);
  return isOverflowHidden(declared, 'overflow-y') && (isPixel(width) || isPixel(height));
}

/** Tells whether clipping hides the content. `clip` holds for elements out of the flow alone. */
function isClippedAway(declared: Declarations, isOutOfFlow: boolean): boolean {
  const path = valueOrEmpty(declared, 'clip-path');
  const inset = /^inset\(\s*(\d+(?:\.\d+)?)%\s*\)$/.exec(path)?.[1];
  if (inset !== undefined && Number(inset) >= 50) return true;
  if (/^circle\(\s*0(?:px|%)?\s*\)$/.test(path)) return true;
  const sides = /^rect\(([^()]*)\)$/.exec(valueOrEmpty(declared, 'clip'))?.[1];
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
