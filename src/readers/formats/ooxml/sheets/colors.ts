import { lookUp } from '../../../../shared/at.js';
import { hexColor, namedColor, withLuminance, type Color } from '../../visibility/colors.js';
import type { Fill } from '../../visibility/layers.js';
import { readScheme } from '../drawing/colors.js';
import { childOf, childrenOf, descend, wholeNumber } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { attribute } from '../../xml/read-markup.js';

/** The colours that cells refer to by their number (ECMA-376 part 1, 18.8.27); the first eight repeat as the next eight. */
const INDEXED: readonly Color[] =
  '000000 ffffff ff0000 00ff00 0000ff ffff00 ff00ff 00ffff 800000 008000 000080 808000 800080 008080 c0c0c0 808080 9999ff 993366 ffffcc ccffff 660066 ff8080 0066cc ccccff 000080 ff00ff ffff00 00ffff 800080 800000 008080 0000ff 00ccff ccffff ccffcc ffff99 99ccff ff99cc cc99ff ffcc99 3366ff 33cccc 99cc00 ffcc00 ff9900 ff6600 666699 969696 003366 339966 003300 333300 993300 993366 333399 333333'
    .split(' ')
    .map((digits): Color => `#${digits}`);
const FIRST_INDEXED = 8;
const MAX_INDEXED = 256;
/** The order in which cells count the colours of a theme. */
const THEMED = 'lt1 dk1 lt2 dk2 accent1 accent2 accent3 accent4 accent5 accent6 hlink folHlink'.split(' ');

export interface SheetColors {
  /** The colour of an element such as `color` or `fgColor`; undefined where it has none or it is not known. */
  of(element: XmlElement | undefined): Color | undefined;
  /** Returns the colour of a fill of cells. */
  fill(fill: XmlElement | undefined): Fill;
}

/** @param styles the part with the styles of cells, which may have colours of its own */
export function createSheetColors(
  styles: XmlElement | undefined,
  theme: XmlElement | undefined,
): SheetColors {
  const scheme = readScheme(theme);
  const own = [...childrenOf(descend(styles, 'x:colors', 'x:indexedColors'), 'x:rgbColor')]
    .slice(0, MAX_INDEXED)
    .map(({ attributes }) => rgbColor(attributes['rgb']));
  const indexed = (index: number): Color | undefined =>
    own.length > 0 ? own[index] : INDEXED[index < FIRST_INDEXED ? index : index - FIRST_INDEXED];
  const of = (element: XmlElement | undefined): Color | undefined => {
    if (!element) return undefined;
    const { rgb, theme: themed, indexed: index } = element.attributes;
    const base =
      rgb === undefined
        ? themed === undefined
          ? indexed(wholeNumber(index) ?? -1)
          : lookUp(scheme, THEMED[wholeNumber(themed) ?? -1])
        : rgbColor(rgb);
    return base && tinted(base, Number(attribute(element.attributes, 'tint')));
  };
  return {
    of,
    fill(fill) {
      const pattern = childOf(fill, 'x:patternFill');
      if (!pattern) return childOf(fill, 'x:gradientFill') === undefined ? 'none' : 'unknown';
      const type = pattern.attributes['patternType'] ?? 'none';
      if (type === 'none') return 'none';
      return type === 'solid' ? (of(childOf(pattern, 'x:fgColor')) ?? 'unknown') : 'unknown';
    },
  };
}

/** Reads six digits, or eight of which the first two, for transparency, are ignored. */
const rgbColor = (digits: string | undefined): Color | undefined => hexColor(digits?.slice(-6));

/** A tint makes a colour darker below zero, and lighter above (ECMA-376 part 1, 18.8.19). */
function tinted(color: Color, tint: number): Color {
  if (!Number.isFinite(tint) || tint === 0) return color;
  return withLuminance(color, (before) => (tint < 0 ? before * (1 + tint) : before * (1 - tint) + tint));
}

/** A colour that a number format names, such as `Red` or `Color10`; undefined for anything else in brackets. */
export function formatColor(name: string): Color | undefined {
  const index = /^color\s?(\d{1,2})$/i.exec(name)?.[1];
  if (index !== undefined) return INDEXED[Number(index) - 1];
  if (!/^(?:black|blue|cyan|green|magenta|red|white|yellow)$/i.test(name)) return undefined;
  return namedColor(name.toLowerCase() === 'green' ? 'lime' : name.toLowerCase());
}
