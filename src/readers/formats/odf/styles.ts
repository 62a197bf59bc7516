import type { Shift } from '../baseline/shift.js';
import { cssColor, WHITE, type Color } from '../visibility/colors.js';
import type { Fill } from '../visibility/layers.js';
import { MAX_UNSEEN_OPACITY, type RunStyle } from '../visibility/reason-unseen.js';
import { attribute, type Attributes, type MarkupHandler } from '../xml/read-markup.js';
import { lengthOf } from './lengths.js';
import { createListStyles, type NumberStyle } from './lists/list-styles.js';
import { lookUp } from '../../../shared/at.js';

/** The properties of a style that decide whether text is seen. */
export interface StyleLook {
  readonly isUndisplayed?: boolean | undefined;
  /** `auto` is a colour that can be seen, `none` one that is transparent. */
  readonly color?: Color | 'auto' | 'none' | undefined;
  /** The colour behind text itself, or the fill of a cell, row or table. */
  readonly background?: Color | 'unknown' | undefined;
  /** The fill of a shape or a slide. */
  readonly fill?: Fill | undefined;
  /** True if a shape has more than a fill and a thin line. */
  readonly hasEffects?: boolean | undefined;
  /** True if the look depends on the content of a cell. */
  readonly isConditional?: boolean | undefined;
  /** The shift of text above or below the line. */
  readonly shift?: Shift | 'none' | undefined;
  /** In points. */
  readonly size?: number | undefined;
  /** The name of its font. */
  readonly font?: string | undefined;
}

interface Style extends StyleLook {
  readonly parent?: string | undefined;
  /** True if it undoes the background of its parent style. */
  readonly isTransparent?: boolean;
}

/** A style may be made from another one, and that from another. */
const MAX_PARENTS = 20;
const LANGUAGE_OF_NOTHING = new Set(['', 'none', 'zxx']);

export interface Styles extends MarkupHandler {
  /**
   * Returns the look that a style of a family (`paragraph`, `text`, `table`, `drawing-page`) gives, together with its
   * parent styles.
   */
  look(family: string, name: string | undefined): StyleLook;
  /** The sign before items of a list of this style, on a level from 1; undefined where nothing is said of it. */
  bullet(list: string | undefined, level: number): Bullet | undefined;
  /** Returns the numbering of the items of a list of this style, on a level from 1; undefined where they have no numbers. */
  numbers(list: string | undefined, level: number): NumberStyle | undefined;
  /** The colour of pages; undefined when it is not known. @param isFurniture whether at the head or foot of pages */
  pageColor(isFurniture?: boolean): Color | undefined;
  /** Tells whether what is on a layer is not displayed on screens. */
  hidesLayer(name: string): boolean;
  /** The language of ordinary paragraphs; empty for none. */
  language(): string;
}

/** Collects the styles of `styles.xml` and `content.xml`. */
export function createStyles(): Styles {
  const hiddenLayers = new Set<string>();
  const looks = createLooks();
  return {
    ...looks,
    open: (name, attributes) => {
      looks.open(name, attributes);
      const layer = attribute(attributes, 'draw:name');
      // Shapes on no layer are not on one without a name.
      if (name === 'draw:layer' && layer !== '' && isOffScreen(attributes)) hiddenLayers.add(layer);
    },
    hidesLayer: (name) => hiddenLayers.has(name),
  };
}

function createLooks(): Omit<Styles, 'hidesLayer'> {
  const styles = new Map<string, Style>();
  let current: string | undefined;
  let isPage = false;
  const pages = createPageColors();
  const fonts = createFonts();
  let language = '';
  const add = (part: Style): void => {
    if (current !== undefined) styles.set(current, { ...styles.get(current), ...part });
  };
  const readProperties = (name: string, attributes: Attributes): void => {
    pages.read(name, attributes, isPage);
    if (current === 'paragraph/') language ||= languageOf(attributes);
    add({ ...lookOf(attributes), ...fonts.lookOf(attributes) });
  };
  return {
    open: (name, attributes) => {
      fonts.open(name, attributes);
      if (name === 'style:style' || name === 'style:default-style') {
        current = `${attribute(attributes, 'style:family')}/${attribute(attributes, 'style:name')}`;
        styles.set(current, parentOf(attributes));
      } else if (name === 'style:page-layout') isPage = true;
      else if (name === 'style:map') add({ isConditional: true });
      else if (name === 'style:background-image' && attributes['xlink:href'] !== undefined) {
        if (isPage) pages.addUnknown();
        add({ background: 'unknown' });
      } else if (name.endsWith('-properties')) readProperties(name, attributes);
    },
    close: (name) => {
      if (name === 'style:style' || name === 'style:default-style') current = undefined;
      if (name === 'style:page-layout') isPage = false;
    },
    text: () => undefined,
    bullet: fonts.bullet,
    numbers: fonts.numbers,
    look: (family, name) => resolve(styles, `${family}/${name ?? ''}`),
    pageColor: (isFurniture) => pages.color(isFurniture === true),
    language: () => language,
  };
}

/**
 * Tells whether a layer or a shape is not displayed on screens (`draw:display` of ODF 1.3: `none`, or `printer` alone).
 * LibreOffice says it of shapes in a namespace of its own.
 */
export function isOffScreen(attributes: Attributes): boolean {
  const display = attributes['draw:display'] ?? attributes['drawooo:display'];
  return display === 'none' || display === 'printer';
}

function parentOf(attributes: Attributes): Style {
  const parent = attributes['style:parent-style-name'];
  return parent === undefined ? {} : { parent: `${attribute(attributes, 'style:family')}/${parent}` };
}

function resolve(styles: ReadonlyMap<string, Style>, key: string): StyleLook {
  let look: StyleLook = {};
  let isTransparent = false;
  let next: string | undefined = key.endsWith('/') ? undefined : key;
  for (let count = 0; next !== undefined && count < MAX_PARENTS; count += 1) {
    const style: Style | undefined = styles.get(next);
    if (!style) break;
    look = withGround(inherit(style, look), style, isTransparent);
    isTransparent ||= style.isTransparent === true;
    next = style.parent;
  }
  // The defaults of a family hold where no style says anything.
  const defaults = styles.get(`${key.slice(0, key.indexOf('/'))}/`);
  return defaults && look.background === undefined ? withGround(look, defaults, true) : look;
}

/** Sets the background to unknown where one style undoes the background of another, or only defaults have one. */
const withGround = (look: StyleLook, lower: StyleLook, isDoubtful: boolean): StyleLook =>
  isDoubtful && lower.background !== undefined ? { ...look, background: 'unknown' } : look;

/** Returns the look that holds where `inner` is used within `outer`. */
export function inherit(outer: StyleLook, inner: StyleLook): StyleLook {
  return {
    isUndisplayed: inner.isUndisplayed ?? outer.isUndisplayed,
    color: inner.color ?? outer.color,
    background: inner.background ?? outer.background,
    fill: inner.fill ?? outer.fill,
    hasEffects: inner.hasEffects ?? outer.hasEffects,
    isConditional: inner.isConditional ?? outer.isConditional,
    size: inner.size ?? outer.size,
    shift: inner.shift ?? outer.shift,
    font: inner.font ?? outer.font,
  };
}

function lookOf(attributes: Attributes): Style {
  const display = attributes['text:display'] ?? attributes['table:display'];
  const background = backgroundOf(attributes['fo:background-color']);
  const fill = fillOf(attributes);
  const position = attributes['style:text-position'];
  const size = /^([\d.]+)pt$/.exec(attribute(attributes, 'fo:font-size'))?.[1];
  return {
    ...(display === undefined ? {} : { isUndisplayed: display === 'none' || display === 'false' }),
    ...(attributes['presentation:visibility'] === 'hidden' ? { isUndisplayed: true } : {}),
    ...colorOf(attributes),
    ...(background === undefined ? {} : { background }),
    ...(attributes['fo:background-color'] === 'transparent' ? { isTransparent: true } : {}),
    ...(hasEffects(attributes) ? { hasEffects: true } : {}),
    ...(fill === undefined ? {} : { fill }),
    ...(size === undefined ? {} : { size: Number(size) }),
    ...(position === undefined ? {} : { shift: shiftOf(position) }),
  };
}

/** The colour of text. LibreOffice says of the colour of windows, too, that it is transparent, but shows it. */
function colorOf(attributes: Attributes): Pick<Style, 'color'> {
  if (attributes['style:use-window-font-color'] === 'true') return { color: 'auto' };
  const color = attributes['fo:color'];
  if (color === undefined) return {};
  const opacity = /^([\d.]+)%$/.exec(attribute(attributes, 'loext:opacity'))?.[1];
  const isTransparent = opacity !== undefined && Number(opacity) / 100 <= MAX_UNSEEN_OPACITY;
  return { color: isTransparent ? 'none' : cssColor(color.toLowerCase()) };
}

/** A position is `super`, `sub` or a share of the size of letters, then their smaller size. */
function shiftOf(position: string): Shift | 'none' {
  const [height = ''] = position.trim().split(/\s+/);
  if (height === 'super' || Number.parseFloat(height) > 0) return 'raised';
  return height === 'sub' || Number.parseFloat(height) < 0 ? 'lowered' : 'none';
}

/** The thickest line, in millimetres, that is no ground for text. */
const THICKEST_LINE = 1.06;

function hasEffects(attributes: Attributes): boolean {
  const isNothing = (value: string | undefined): boolean => /^0(?:\.0*)?[a-z]*$/.test(value ?? '0');
  return (
    attributes['draw:shadow'] === 'visible' ||
    !isNothing(attributes['loext:glow-radius']) ||
    !isNothing(attributes['loext:softedge-radius']) ||
    (attributes['draw:stroke'] !== 'none' &&
      (lengthOf(attributes['svg:stroke-width']) ?? 0) > THICKEST_LINE) ||
    attribute(attributes, 'fo:clip').includes('-') ||
    (attributes['draw:image-opacity'] ?? '100%') !== '100%'
  );
}

function backgroundOf(color: string | undefined): StyleLook['background'] {
  if (color === undefined || color === 'transparent') return undefined;
  return cssColor(color.toLowerCase()) ?? 'unknown';
}

/** Returns the fill of a shape, or of a slide: a colour, nothing, or something else such as a picture. */
function fillOf(attributes: Attributes): Fill | undefined {
  const kind = attributes['draw:fill'];
  if (kind === undefined) return undefined;
  if (kind === 'none') return 'none';
  const isMixed = kind !== 'solid' || !/^(?:100%)?$/.test(attribute(attributes, 'draw:opacity'));
  return isMixed
    ? 'unknown'
    : (cssColor(attribute(attributes, 'draw:fill-color').toLowerCase()) ?? 'unknown');
}

/** Collects the fills of pages. Where several kinds of pages differ, nobody knows on which of them a text stands. */
function createPageColors() {
  const colors = new Set<Color | 'unknown'>();
  let hasFilledFurniture = false;
  const add = (attributes: Attributes): void => {
    const fill = fillOf(attributes) ?? 'none';
    const color = backgroundOf(attributes['fo:background-color']) ?? (fill === 'none' ? WHITE : fill);
    if (colors.size < 2) colors.add(color);
  };
  return {
    read(name: string, attributes: Attributes, isPage: boolean): void {
      if (isPage && name === 'style:page-layout-properties') add(attributes);
      else if (isPage) hasFilledFurniture ||= backgroundOf(attributes['fo:background-color']) !== undefined;
      // The place of a shape that lies behind the text is not compared with the place of the text.
      if (attributes['style:run-through'] === 'background' && attributes['style:wrap'] === 'run-through')
        colors.add('unknown');
    },
    addUnknown: () => void colors.add('unknown'),
    color(isFurniture: boolean): Color | undefined {
      const [color = WHITE] = colors;
      if (colors.size > 1 || color === 'unknown' || (isFurniture && hasFilledFurniture)) return undefined;
      return color;
    },
  };
}

function languageOf(attributes: Attributes): string {
  const language = attribute(attributes, 'fo:language');
  const country = attribute(attributes, 'fo:country');
  if (LANGUAGE_OF_NOTHING.has(language)) return '';
  return LANGUAGE_OF_NOTHING.has(country) ? language : `${language}-${country}`;
}

/** The style of text, for the judge of what is seen. @param behind tells the colour behind it; undefined when it is not known */
export function styleOf(look: StyleLook, behind: () => Color | undefined): RunStyle {
  const { color, background } = look;
  return {
    off: look.isUndisplayed === true ? 'off' : undefined,
    size: look.size,
    opacity: color === 'none' ? 0 : undefined,
    color: color === 'auto' || color === 'none' || background === 'unknown' ? undefined : color,
    behind: background === undefined || background === 'unknown' ? behind : () => background,
  };
}

/** The sign before the items of a list. */
interface Bullet {
  readonly sign: string;
  readonly font: string | undefined;
}

const MAX_FONTS = 10_000;

/** Collects the fonts that styles name, and the marks of lists, whose bullets are in fonts of their own. */
function createFonts() {
  const families = new Map<string, string>();
  const bullets = new Map<string, Bullet>();
  const lists = createListStyles();
  let list = '';
  let bullet: string | undefined;
  const nameOf = (attributes: Attributes): string | undefined => {
    const name = attributes['style:font-name'];
    return attributes['fo:font-family'] ?? (name === undefined ? undefined : (families.get(name) ?? name));
  };
  return {
    open(name: string, attributes: Attributes): void {
      lists.open(name, attributes);
      if (name === 'style:font-face' && families.size < MAX_FONTS)
        families.set(attribute(attributes, 'style:name'), attribute(attributes, 'svg:font-family'));
      else if (name === 'text:list-style') list = attribute(attributes, 'style:name');
      else if (name.startsWith('text:list-level-style-')) {
        const sign = attributes['text:bullet-char'];
        const key = `${list}/${attributes['text:level'] ?? '1'}`;
        bullet = sign === undefined ? undefined : key;
        if (sign !== undefined && bullets.size < MAX_FONTS) bullets.set(key, { sign, font: undefined });
      } else if (name === 'style:text-properties' && bullet !== undefined) {
        const known = bullets.get(bullet);
        if (known) bullets.set(bullet, { ...known, font: nameOf(attributes) ?? known.font });
      } else if (name === 'style:style') bullet = undefined;
    },
    bullet: (style: string | undefined, level: number): Bullet | undefined =>
      lookUp(bullets, style && `${style}/${String(level)}`),
    numbers: lists.numbers,
    /** Returns the font of text, as properties say it. */
    lookOf: (attributes: Attributes): { readonly font?: string } => {
      const font = nameOf(attributes);
      return font === undefined ? {} : { font };
    },
  };
}
