import { clippingOf, FOR_SCREEN_READERS, isBox, isTransient, type Clipping } from './clipping.js';
import { LISTS } from './html-lists.js';
import { alphaOf, areAlike, cssColor, type Color } from '../visibility/colors.js';
import { UNKNOWN, type Declarations } from './declarations.js';

/** The properties of an element that decide whether its text is seen. */
export interface Look {
  /** The reason why nothing inside is seen, whatever the inside says itself. */
  readonly kind: string | undefined;
  /** The way in which a box cuts off all text in it that is not out of its flow. */
  readonly clipping: Clipping | undefined;
  readonly isTiny: boolean;
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
  isTiny: false,
  isInvisible: false,
  isIndented: false,
  // The colour that text has unless it is told: not known, since attributes of `body` and other sheets set it.
  color: undefined,
  background: '#ffffff',
  isDressed: false,
  font: undefined,
  listStyle: undefined,
};
/** Pixels beyond which text is moved off the page. */
const FAR_AWAY = -999;
const MIN_OPACITY = 0.05;
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

export function reasonOf({ kind, ...look }: Look): string | undefined {
  if (kind !== undefined) return kind;
  if (look.clipping === 'cut off') return 'cut off';
  if (look.isInvisible) return 'visibility: hidden';
  if (look.isTiny) return 'smaller than 2 pt';
  if (look.isIndented) return 'off the page';
  if (look.clipping !== undefined) return look.clipping;
  if (look.isDressed || look.color === undefined) return undefined;
  if (look.color === 'transparent') return 'transparent';
  return look.background !== undefined && areAlike(look.color, look.background)
    ? 'in the colour of its background'
    : undefined;
}

/** @param element the name of the element, which tells whether it is a box or a part of a line */
export function lookWithin(outer: Look, declared: Declarations, element: string): Look {
  const visibility = declared.get('visibility');
  const indent = declared.get('text-indent');
  const isAnimated = ['animation', 'animation-name'].some((name) => isSet(declared.get(name)));
  return {
    kind: outer.kind ?? kindOf(declared, element, isAnimated),
    clipping: isAnimated ? undefined : clippingWithin(outer, declared, element),
    isTiny: !isAnimated && isTiny(declared.get('font-size'), outer.isTiny),
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
  const isLoose = ['absolute', 'fixed', UNKNOWN].includes(declared.get('position') ?? '');
  const outer = isLoose ? undefined : clipping;
  return outer === 'cut off' ? outer : (clippingOf(element, declared) ?? outer);
}

const SCALED_AWAY = /\bscale(?:3d|x|y)?\(\s*[+-]?(?:0+(?:\.0*)?|\.0+)%?\s*[,)]/;

function isScaledAway(declared: Declarations, element: string): boolean {
  if (!isBox(element, declared) || isTransient(declared)) return false;
  return (
    SCALED_AWAY.test(declared.get('transform') ?? '') ||
    /^0+(?:\.0*)?%?(?:\s|$)/.test(declared.get('scale') ?? '')
  );
}

function kindOf(declared: Declarations, element: string, isAnimated: boolean): string | undefined {
  if (declared.get('display') === 'none') return 'display: none';
  if (isAnimated) return undefined;
  const opacity = declared.get('opacity') ?? '1';
  if (Number.parseFloat(opacity) / (opacity.endsWith('%') ? 100 : 1) <= MIN_OPACITY) return 'opacity: 0';
  if (isScaledAway(declared, element)) return 'scaled to nothing';
  const position = declared.get('position');
  if (position !== 'absolute' && position !== 'fixed') return undefined;
  const sides = ['left', 'top', 'right', 'bottom'];
  const isFar = sides.some((side) => Number.parseFloat(declared.get(side) ?? '0') <= FAR_AWAY);
  return isFar && clippingOf(element, declared) !== FOR_SCREEN_READERS ? 'off the page' : undefined;
}

/**
 * Sizes below which text cannot be read, by their units. A size without an absolute unit keeps the size of the outer
 * element.
 */
const MIN_SIZE: ReadonlyMap<string, number> = new Map([
  ['pt', 2],
  ['px', 2],
  ['pc', 0.16],
  ['in', 0.02],
  ['cm', 0.06],
  ['mm', 0.6],
  ['q', 2.4],
  ['rem', 0.1],
  ['em', 0.1],
  ['ex', 0.2],
  ['%', 10],
  ['', 1],
]);

function isTiny(size: string | undefined, isOuterTiny: boolean): boolean {
  if (size === undefined || size === 'inherit') return isOuterTiny;
  const [, number = '', unit = ''] = /^((?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?)([a-z%]*)$/.exec(size) ?? [];
  if (number === '') return false;
  if (Number(number) < (MIN_SIZE.get(unit) ?? 0)) return true;
  return (unit === 'em' || unit === '%') && isOuterTiny;
}

function colorOf(value: string | undefined, outer: Look['color']): Look['color'] {
  if (value === undefined || KEPT.has(value)) return outer;
  return alphaOf(value) <= MIN_OPACITY ? 'transparent' : cssColor(value);
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
  if (['absolute', 'fixed', UNKNOWN].includes(declared.get('position') ?? '')) return true;
  if (['transform', 'translate', 'grid-area', 'grid-row'].some((name) => isSet(declared.get(name))))
    return true;
  return ['margin', 'margin-top', 'margin-left'].some((name) =>
    /-[\d.]|unknown/.test(declared.get(name) ?? ''),
  );
}
