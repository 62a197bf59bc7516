import { attribute } from '../../xml/read-markup.js';
import { lookUp } from '../../../../shared/at.js';
import { hexColor, namedColor, withLuminance, type Color } from '../../visibility/colors.js';
import { colorOfFill, type Fill } from '../../visibility/layers.js';
import { MAX_UNSEEN_OPACITY } from '../../visibility/reason-unseen.js';
import { childOf, childrenOf, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** The colours of a theme by their names, such as `accent1`, or `bg1` where a part maps it. */
export type Palette = ReadonlyMap<string, Color>;

/** Thousandths of a percent. */
const WHOLE = 100_000;

/**
 * Reads the first fill that is directly in an element, such as properties of a shape or run; undefined without any. It is
 * `none` where it is transparent, and `unknown` for several colours or a mixture.
 */
export function fillOf(element: XmlElement | undefined, palette: Palette): Fill | undefined {
  for (const child of childrenOf(element)) {
    if (child.name === 'a:noFill') return 'none';
    if (child.name === 'a:solidFill') return colorIn(child, palette) ?? 'unknown';
    if (/^a:(?:grad|blip|patt|grp)Fill$/.test(child.name)) return 'unknown';
  }
  return undefined;
}

/** The colour that an element holds; undefined where it holds none. */
export function colorIn(element: XmlElement | undefined, palette: Palette): Fill | undefined {
  for (const child of childrenOf(element)) {
    const color = baseColor(child, palette);
    if (color !== undefined) return modified(color, child);
    if (/^a:(?:scrgb|hsl|scheme|sys|prst)Clr$/.test(child.name)) return 'unknown';
  }
  return undefined;
}

function baseColor({ name, attributes }: XmlElement, palette: Palette): Color | undefined {
  switch (name) {
    case 'a:srgbClr':
      return hexColor(attributes['val']);
    case 'a:sysClr':
      return hexColor(attributes['lastClr']);
    case 'a:schemeClr':
      return lookUp(palette, attributes['val']);
    case 'a:prstClr':
      return namedColor(attribute(attributes, 'val').toLowerCase());
    default:
      return undefined;
  }
}

/** Applies the changes within a colour (ECMA-376 part 1, 20.1.2.3), as far as they make it lighter or darker. */
function modified(base: Color, element: XmlElement): Fill {
  let paint: Fill = base;
  for (const { name, attributes } of childrenOf(element)) {
    const share = shareOf(attributes['val']);
    if (name === 'a:alpha') {
      if (share <= MAX_UNSEEN_OPACITY) return 'none';
      if (share < 1) paint = 'unknown';
    } else if (paint === 'unknown') continue;
    else if (name === 'a:lumMod') paint = withLuminance(paint, (before) => before * share);
    else if (name === 'a:lumOff') paint = withLuminance(paint, (before) => before + share);
    else paint = 'unknown';
  }
  return paint;
}

/** A share as thousandths of a percent, or in the strict variant as percents; the whole where none is stated. */
function shareOf(value: string | undefined): number {
  const percents = /^\s*([+-]?\d{1,9}(?:\.\d{1,9})?)%\s*$/.exec(value ?? '')?.[1];
  return percents === undefined ? (wholeNumber(value) ?? WHOLE) / WHOLE : Number(percents) / 100;
}

const SCHEME = 'dk1 lt1 dk2 lt2 accent1 accent2 accent3 accent4 accent5 accent6 hlink folHlink'.split(' ');

/** Reads the scheme of colours of a theme. */
export function readScheme(theme: XmlElement | undefined): Palette {
  const scheme = childOf(childOf(theme, 'a:themeElements'), 'a:clrScheme');
  const colors = new Map<string, Color>();
  for (const name of SCHEME) {
    const color = colorOfFill(colorIn(childOf(scheme, `a:${name}`), colors));
    if (color !== undefined) colors.set(name, color);
  }
  return colors;
}

/** The default meanings of the names of a mapping, such as `bg1` or `tx1`. */
const USUAL_NAMES = { bg1: 'lt1', tx1: 'dk1', bg2: 'lt2', tx2: 'dk2' } as const;

/** Adds the names that a part gives to colours of the scheme. @param mapping an element such as `p:clrMap` */
export function mappedPalette(scheme: Palette, mapping: XmlElement | undefined): Palette {
  const palette = new Map(scheme);
  for (const [name, usual] of Object.entries({ ...USUAL_NAMES, ...mapping?.attributes })) {
    const color = scheme.get(usual);
    if (color !== undefined) palette.set(name, color);
  }
  return palette;
}
