import type { Attributes } from '../xml/read-markup.js';
import { areAlike, cssColor, type Color } from '../visibility/colors.js';
import {
  createStyleRules,
  parseDeclarations,
  parseStyleSheet,
  type Declarations,
  type StyleSheet,
} from './style-rules.js';

/** What of an element decides whether its text is seen. */
interface Look {
  /** Why nothing inside is seen, whatever it says itself. */
  readonly kind: string | undefined;
  readonly isTiny: boolean;
  readonly isInvisible: boolean;
  readonly isIndented: boolean;
  readonly color: Color | undefined;
  /** Undefined where it cannot be known. */
  readonly background: Color | undefined;
}

/** Follows open elements, and tells why text in them is not shown. */
export interface VisibilityTracker {
  open(name: string, attributes: Attributes): void;
  close(): void;
  /** Why text here is not shown; undefined when it is. */
  reason(): string | undefined;
  /** Adds the content of a `style` element. */
  addStyles(css: string): void;
}

const PAGE: Look = {
  kind: undefined,
  isTiny: false,
  isInvisible: false,
  isIndented: false,
  // The colour that text has unless it is told: not known, since attributes of `body` and other sheets set it.
  color: undefined,
  background: '#ffffff',
};
/** Pixels beyond which text is moved off the page. */
const FAR_AWAY = -999;

/** @param loadSheet returns a style sheet that markup links to; undefined where it cannot be read */
export function createVisibility(loadSheet?: LoadStyleSheet): VisibilityTracker {
  const rules = createStyleRules();
  const looks: Look[] = [PAGE];
  let hasLinkedStyles = false;
  return {
    open: (name, attributes) => {
      if (name === 'link' && isStyleSheet(attributes)) {
        const sheet = loadSheet?.(attributes['href'] ?? '');
        if (sheet) rules.add(sheet);
        else hasLinkedStyles = true;
      }
      const outer = looks.at(-1) ?? PAGE;
      const { id = '', class: className = '', style } = attributes;
      const declared = new Map(rules.match(name, id, className));
      if (style !== undefined)
        for (const [property, value] of parseDeclarations(style)) declared.set(property, value);
      addAttributes(declared, attributes);
      // A style sheet that is not followed may give anything with a class or an id a background.
      const isOpen = (id !== '' || className !== '') && (hasLinkedStyles || rules.hasOtherBackgrounds());
      looks.push(declared.size === 0 && !isOpen ? outer : lookWithin(outer, declared, isOpen));
    },
    close: () => {
      if (looks.length > 1) looks.pop();
    },
    reason: () => reasonOf(looks.at(-1) ?? PAGE),
    addStyles: (css) => rules.add(parseStyleSheet(css)),
  };
}

/** Finds a style sheet by the reference to it. */
export type LoadStyleSheet = (reference: string) => StyleSheet | undefined;

const isStyleSheet = ({ rel = '', media = '' }: Attributes): boolean =>
  rel.toLowerCase().split(/\s+/).includes('stylesheet') && !/^\s*(?:print|speech)\s*$/i.test(media);

function addAttributes(declared: Map<string, string>, attributes: Attributes): void {
  if (attributes['hidden'] !== undefined && !declared.has('display')) declared.set('display', 'none');
  const { bgcolor, color, background } = attributes;
  if (bgcolor !== undefined && !declared.has('background-color'))
    declared.set('background-color', bgcolor.toLowerCase());
  if (background !== undefined) declared.set('background-color', 'url()');
  if (color !== undefined && !declared.has('color')) declared.set('color', color.toLowerCase());
}

function reasonOf(look: Look): string | undefined {
  if (look.kind !== undefined) return look.kind;
  if (look.isInvisible) return 'visibility: hidden';
  if (look.isTiny) return 'smaller than 2 pt';
  if (look.isIndented) return 'off the page';
  if (look.color !== undefined && look.background !== undefined && areAlike(look.color, look.background))
    return 'in the colour of its background';
  return undefined;
}

function lookWithin(outer: Look, declared: Declarations, isStyledElsewhere: boolean): Look {
  const visibility = declared.get('visibility');
  const indent = declared.get('text-indent');
  const color = declared.get('color');
  const background = declared.get('background-color');
  const unknown = isStyledElsewhere ? undefined : outer.background;
  return {
    kind: outer.kind ?? kindOf(declared),
    isTiny: isTiny(declared.get('font-size'), outer.isTiny),
    isInvisible:
      visibility === undefined ? outer.isInvisible : visibility === 'hidden' || visibility === 'collapse',
    isIndented: indent === undefined ? outer.isIndented : Number.parseFloat(indent) <= FAR_AWAY,
    color: color === undefined ? outer.color : cssColor(color),
    background: background === undefined ? unknown : backgroundOf(background, outer.background),
  };
}

function kindOf(declared: Declarations): string | undefined {
  if (declared.get('display') === 'none') return 'display: none';
  if (Number.parseFloat(declared.get('opacity') ?? '1') === 0) return 'opacity: 0';
  const position = declared.get('position');
  if (position !== 'absolute' && position !== 'fixed') return undefined;
  const isFar = ['left', 'top'].some((side) => Number.parseFloat(declared.get(side) ?? '0') <= FAR_AWAY);
  return isFar ? 'off the page' : undefined;
}

/** Sizes below which text cannot be read, by their units. Those without an absolute size keep that of what holds them. */
const SMALLEST: ReadonlyMap<string, number> = new Map([
  ['pt', 2],
  ['px', 2],
  ['rem', 0.1],
  ['em', 0.1],
  ['%', 10],
  ['', 1],
]);

function isTiny(size: string | undefined, isOuterTiny: boolean): boolean {
  if (size === undefined || size === 'inherit') return isOuterTiny;
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?|\.\d+)([a-z%]*)$/.exec(size) ?? [];
  if (number === '') return false;
  if (Number(number) < (SMALLEST.get(unit) ?? 0)) return true;
  return (unit === 'em' || unit === '%') && isOuterTiny;
}

function backgroundOf(value: string, outer: Color | undefined): Color | undefined {
  if (['transparent', 'none', 'inherit', 'initial'].includes(value)) return outer;
  return cssColor(value) ?? cssColor(value.split(' ')[0] ?? '');
}
