import { colorsByName, hexColor, withLuminance, WHITE, type Color } from '../../visibility/colors.js';
import type { Fill } from '../../visibility/layers.js';
import { mappedPalette, readScheme, type Palette } from '../drawing/colors.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, isTrue } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';

/** The names that Word has for colours of a theme, beside the names of the scheme itself. */
const THEME_NAMES: Readonly<Record<string, string>> = {
  background1: 'bg1',
  text1: 'tx1',
  background2: 'bg2',
  text2: 'tx2',
  light1: 'lt1',
  dark1: 'dk1',
  light2: 'lt2',
  dark2: 'dk2',
  hyperlink: 'hlink',
  followedHyperlink: 'folHlink',
};
const MAPPED = { bg1: 'w:bg1', tx1: 'w:t1', bg2: 'w:bg2', tx2: 'w:t2' } as const;

const HIGHLIGHTS = colorsByName(
  'black 000000 blue 0000ff cyan 00ffff green 00ff00 magenta ff00ff red ff0000 yellow ffff00 white ' +
    'ffffff darkBlue 000080 darkCyan 008080 darkGreen 008000 darkMagenta 800080 darkRed 800000 darkYellow ' +
    '808000 darkGray 808080 lightGray c0c0c0',
);

/** Reads the colours of a Word file, which may be names of its theme. */
export interface WordColors {
  /** Returns the colour of text; `auto` is one that can be seen. Undefined where none is stated. */
  text(color: XmlElement | undefined): Color | 'auto' | undefined;
  /** Returns the fill of letters (`w14:textFill`); `unknown` where it is more than one colour. */
  fill(fill: XmlElement | undefined): Fill | undefined;
  shading(shading: XmlElement | undefined): Fill | undefined;
  highlight(name: string | undefined): Fill | undefined;
  /** Returns the fill of pages. */
  page(background: XmlElement | undefined): Fill;
}

interface ColorParts {
  readonly theme: string | undefined;
  readonly settings: string | undefined;
}

export function readWordColors(office: OfficePackage, { theme, settings }: ColorParts): WordColors {
  const settingsTree = settings === undefined ? undefined : office.tree(settings);
  const scheme = readScheme(theme === undefined ? undefined : office.tree(theme));
  const palette = mappedPalette(scheme, mappingOf(childOf(settingsTree, 'w:clrSchemeMapping')));
  const displayed = childOf(settingsTree, 'w:displayBackgroundShape');
  const isPageShown = displayed !== undefined && isTrue(displayed.attributes['w:val'] ?? '1');
  const themed = (element: XmlElement, prefix: 'theme' | 'themeFill'): Color | undefined =>
    themeColor(element, prefix, palette);
  return {
    text(color) {
      if (!color) return undefined;
      return themed(color, 'theme') ?? hexColor(color.attributes['w:val']) ?? 'auto';
    },
    fill(fill) {
      if (!fill) return undefined;
      if (childOf(fill, 'w14:noFill')) return 'none';
      const solid = childOf(fill, 'w14:solidFill');
      const [named, exact] = [childOf(solid, 'w14:schemeClr'), childOf(solid, 'w14:srgbClr')];
      // A change of the colour is not followed.
      if ([...childrenOf(named ?? exact)].some(({ name }) => name !== 'w14:alpha')) return 'unknown';
      const name = named?.attributes['w14:val'];
      const color = name === undefined ? undefined : palette.get(THEME_NAMES[name] ?? name);
      return color ?? hexColor(exact?.attributes['w14:val']) ?? 'unknown';
    },
    shading(shading) {
      if (!shading) return undefined;
      const pattern = shading.attributes['w:val'] ?? 'clear';
      if (pattern !== 'clear' && pattern !== 'nil') return 'unknown';
      return themed(shading, 'themeFill') ?? hexColor(shading.attributes['w:fill']) ?? 'none';
    },
    highlight: (name) => (name === undefined ? undefined : (HIGHLIGHTS.get(name) ?? 'none')),
    page(background) {
      if (!background) return WHITE;
      const color = themed(background, 'theme') ?? hexColor(background.attributes['w:color']);
      return isPageShown && background.children.length === 0 && color !== undefined ? color : 'unknown';
    },
  };
}

/** Writes a mapping with the names that DrawingML has. */
function mappingOf(mapping: XmlElement | undefined): XmlElement | undefined {
  if (!mapping) return undefined;
  const attributes = Object.entries(MAPPED).flatMap(([name, attribute]): [string, string][] => {
    const value = mapping.attributes[attribute];
    return value === undefined ? [] : [[name, THEME_NAMES[value] ?? value]];
  });
  return { ...mapping, attributes: Object.fromEntries(attributes) };
}

/** A colour of the theme is made lighter or darker by a part of 255 (ECMA-376 part 1, 17.3.2.6). */
function themeColor(
  { attributes }: XmlElement,
  prefix: 'theme' | 'themeFill',
  palette: Palette,
): Color | undefined {
  const name = attributes[prefix === 'theme' ? 'w:themeColor' : 'w:themeFill'];
  const base = name === undefined ? undefined : palette.get(THEME_NAMES[name] ?? name);
  if (base === undefined) return undefined;
  const share = (value: string | undefined): number | undefined =>
    value !== undefined && /^[\da-f]{2}$/i.test(value) ? Number.parseInt(value, 16) / 255 : undefined;
  const [tint, shade] = [share(attributes[`w:${prefix}Tint`]), share(attributes[`w:${prefix}Shade`])];
  if (tint !== undefined) return withLuminance(base, (before) => before * tint + 1 - tint);
  return shade === undefined ? base : withLuminance(base, (before) => before * shade);
}
