import { WHITE, type Color } from '../../visibility/colors.js';
import { colorIn, fillOf, mappedPalette, readScheme, type Palette } from '../drawing/colors.js';
import { colorOfFill, type Fill } from '../../visibility/layers.js';
import type { OfficePackage } from '../package/office-package.js';
import { childOf, childrenOf, descend, findAll, isTrue } from '../xml/elements.js';
import type { XmlElement } from '../xml/stream-xml.js';
import { placeholderOf, targetOf } from './placeholders.js';
import { isThin } from './shape-properties.js';
import { attribute } from '../../xml/read-markup.js';

/** The properties that a slide takes from its layout, master and theme. */
export interface SlideTheme {
  readonly palette: Palette;
  /** The colour of the slide itself; undefined when it is not one colour. */
  readonly background: Color | undefined;
  /** The shapes that the layout and the master draw behind the shapes of the slide, the lowest first. */
  readonly shapesBehind: readonly XmlElement[];
  /** True if there are more of them. */
  readonly hasMoreShapes: boolean;
  /** The fill of shapes that name one of the theme's own by its number, from 1. */
  readonly isPlainFill: (index: number) => boolean;
  /** Tells whether a line of the theme that shapes name by its number, from 1, is a thin one; zero is none. */
  readonly isThinLine: (index: number) => boolean;
}

interface Sheet {
  readonly tree: XmlElement | undefined;
  readonly shapes: readonly XmlElement[];
  readonly hasMoreShapes: boolean;
}

/** The number of shapes of a layout that are compared with the shapes of each slide. */
const MAX_SHAPES = 200;
const NO_SHEET: Sheet = { tree: undefined, shapes: [], hasMoreShapes: false };
/** The number of the first fill of a theme that is for backgrounds. */
const FIRST_BACKGROUND = 1_001;

/** Reads layouts, masters and themes, each once. */
export function createSlideThemes(office: OfficePackage) {
  const sheets = new Map<string, Sheet>();
  const themes = new Map<string, XmlElement | undefined>();
  const sheetAt = (part: string | undefined): Sheet => {
    if (part === undefined) return NO_SHEET;
    const sheet = sheets.get(part) ?? readSheet(office.tree(part));
    sheets.set(part, sheet);
    return sheet;
  };
  const themeAt = (part: string | undefined): XmlElement | undefined => {
    if (part === undefined) return undefined;
    if (!themes.has(part)) themes.set(part, themeElements(office.tree(part)));
    return themes.get(part);
  };
  return (part: string, slide: XmlElement | undefined): SlideTheme => {
    const layoutPart = targetOf(office, part, 'slideLayout');
    const layout = sheetAt(layoutPart);
    const masterPart = layoutPart === undefined ? undefined : targetOf(office, layoutPart, 'slideMaster');
    const master = sheetAt(masterPart);
    const theme = themeAt(masterPart === undefined ? undefined : targetOf(office, masterPart, 'theme'));
    const mapping =
      overrideOf(slide) ?? overrideOf(layout.tree) ?? (master.tree && childOf(master.tree, 'p:clrMap'));
    const palette = mappedPalette(readScheme(theme), mapping);
    const isBare = ({ attributes }: XmlElement): boolean =>
      attributes['showMasterSp'] !== undefined && !isTrue(attributes['showMasterSp']);
    const hasLayoutShapes = slide === undefined || !isBare(slide);
    const hasMasterShapes = hasLayoutShapes && (layout.tree === undefined || !isBare(layout.tree));
    return {
      palette,
      background: backgroundOf([slide, layout.tree, master.tree], palette, theme),
      shapesBehind: [...(hasMasterShapes ? master.shapes : []), ...(hasLayoutShapes ? layout.shapes : [])],
      hasMoreShapes: master.hasMoreShapes || layout.hasMoreShapes,
      isPlainFill: (index) => isPlain(theme, 'a:fillStyleLst', index - 1),
      isThinLine: (index) => index === 0 || isThin(lineOf(theme, index - 1)),
    };
  };
}

/** Keeps the elements of a theme that decide colours. */
function themeElements(tree: XmlElement | undefined): XmlElement | undefined {
  const elements = childOf(tree, 'a:themeElements');
  return elements && { name: 'a:theme', attributes: {}, children: [elements] };
}

/** Keeps the needed part of a layout or master: placeholders for the content of slides are not drawn, and texts not read. */
function readSheet(tree: XmlElement | undefined): Sheet {
  if (!tree) return NO_SHEET;
  const shapes = [...childrenOf(descend(tree, 'p:cSld', 'p:spTree'))].filter(
    (shape) => placeholderOf(shape) === undefined,
  );
  return {
    tree: { ...tree, children: pruned(tree, ['p:cSld', 'p:bg', 'p:clrMap', 'p:clrMapOvr']) },
    hasMoreShapes: shapes.length > MAX_SHAPES,
    shapes: shapes.slice(0, MAX_SHAPES).map((shape) => ({
      ...shape,
      children: [...childrenOf(shape)].filter(({ name }) => name !== 'p:txBody' && name !== 'a:graphic'),
    })),
  };
}

function pruned(tree: XmlElement, names: readonly string[]): XmlElement[] {
  return [...childrenOf(tree)]
    .filter(({ name }) => names.includes(name))
    .map((child) => (child.name === 'p:cSld' ? { ...child, children: pruned(child, ['p:bg']) } : child));
}

const overrideOf = (tree: XmlElement | undefined): XmlElement | undefined =>
  descend(tree, 'p:clrMapOvr', 'a:overrideClrMapping');

/** The background of the first that has one: the slide, its layout or its master. */
function backgroundOf(
  trees: readonly (XmlElement | undefined)[],
  palette: Palette,
  theme: XmlElement | undefined,
): Color | undefined {
  for (const tree of trees) {
    const background = descend(tree, 'p:cSld', 'p:bg');
    if (!background) continue;
    const reference = childOf(background, 'p:bgRef');
    const paint = reference
      ? referredFill(reference, palette, theme)
      : fillOf(childOf(background, 'p:bgPr'), palette);
    return colorOfFill(paint);
  }
  return palette.get('bg1') ?? WHITE;
}

function referredFill(reference: XmlElement, palette: Palette, theme: XmlElement | undefined): Fill {
  const index = Number(attribute(reference.attributes, 'idx')) - FIRST_BACKGROUND;
  if (!isPlain(theme, 'a:bgFillStyleLst', index)) return 'unknown';
  return colorIn(reference, palette) ?? 'unknown';
}

const lineOf = (theme: XmlElement | undefined, index: number): XmlElement | undefined =>
  [...childrenOf(descend(theme, 'a:themeElements', 'a:fmtScheme', 'a:lnStyleLst'))][index];

/** Tells whether a fill of the theme is the plain colour that its users name. */
function isPlain(theme: XmlElement | undefined, list: string, index: number): boolean {
  const fills = descend(theme, 'a:themeElements', 'a:fmtScheme', list);
  const fill = [...childrenOf(fills)][index];
  if (fill?.name !== 'a:solidFill') return false;
  const [color] = findAll(fill, new Set(['a:schemeClr']));
  return color?.attributes['val'] === 'phClr' && color.children.length === 0;
}
