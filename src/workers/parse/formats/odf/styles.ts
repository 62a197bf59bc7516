import type { Attributes, MarkupHandler } from '../xml/read-markup.js';

/** What of a style decides whether text is seen. */
export interface Look {
  readonly isUndisplayed?: boolean | undefined;
  readonly color?: string | undefined;
  readonly background?: string | undefined;
  /** In points. */
  readonly size?: number | undefined;
}

interface Style extends Look {
  readonly parent?: string | undefined;
}

/** A style may be made from another one, and that from another. */
const MOST_PARENTS = 20;
const LANGUAGE_OF_NOTHING = new Set(['', 'none', 'zxx']);

export interface Styles extends MarkupHandler {
  /** What a style of a family (`paragraph`, `text`, `table`, `drawing-page`) says, with the styles it is made from. */
  look(family: string, name: string | undefined): Look;
  /** Whether pages have a background of their own. */
  hasPageBackground(): boolean;
  /** The language of ordinary paragraphs; empty for none. */
  language(): string;
}

/** Collects the styles of `styles.xml` and `content.xml`. */
export function createStyles(): Styles {
  const styles = new Map<string, Style>();
  let current: string | undefined;
  let isPage = false;
  let hasPageBackground = false;
  let language = '';
  const readProperties = (attributes: Attributes): void => {
    if (isPage) hasPageBackground ||= isOpaque(attributes['fo:background-color']);
    if (current === 'paragraph/') language ||= languageOf(attributes);
    if (current !== undefined) styles.set(current, { ...styles.get(current), ...lookOf(attributes) });
  };
  return {
    open: (name, attributes) => {
      if (name === 'style:style' || name === 'style:default-style') {
        const family = attributes['style:family'] ?? '';
        current = `${family}/${attributes['style:name'] ?? ''}`;
        const parent = attributes['style:parent-style-name'];
        styles.set(current, parent === undefined ? {} : { parent: `${family}/${parent}` });
      } else if (name === 'style:page-layout') isPage = true;
      else if (name.endsWith('-properties')) readProperties(attributes);
    },
    close: (name) => {
      if (name === 'style:style' || name === 'style:default-style') current = undefined;
      if (name === 'style:page-layout') isPage = false;
    },
    text: () => undefined,
    look: (family, name) => (name === undefined ? {} : resolve(styles, `${family}/${name}`)),
    hasPageBackground: () => hasPageBackground,
    language: () => language,
  };
}

function resolve(styles: ReadonlyMap<string, Style>, key: string): Look {
  let look: Look = {};
  let next: string | undefined = key;
  for (let count = 0; next !== undefined && count < MOST_PARENTS; count += 1) {
    const style: Style | undefined = styles.get(next);
    if (!style) break;
    look = inherit(style, look);
    next = style.parent;
  }
  return look;
}

/** What holds where `inner` is used within `outer`. */
export function inherit(outer: Look, inner: Look): Look {
  return {
    isUndisplayed: inner.isUndisplayed ?? outer.isUndisplayed,
    color: inner.color ?? outer.color,
    background: inner.background ?? outer.background,
    size: inner.size ?? outer.size,
  };
}

function lookOf(attributes: Attributes): Look {
  const display = attributes['text:display'] ?? attributes['table:display'];
  const color = attributes['fo:color'];
  const background = attributes['fo:background-color'];
  const size = /^([\d.]+)pt$/.exec(attributes['fo:font-size'] ?? '')?.[1];
  return {
    ...(display === undefined ? {} : { isUndisplayed: display === 'none' || display === 'false' }),
    ...(attributes['presentation:visibility'] === 'hidden' ? { isUndisplayed: true } : {}),
    ...(color === undefined ? {} : { color: color.toLowerCase() }),
    ...(isOpaque(background) ? { background: background?.toLowerCase() } : {}),
    ...(size === undefined ? {} : { size: Number(size) }),
  };
}

const isOpaque = (color: string | undefined): boolean => color !== undefined && color !== 'transparent';

function languageOf(attributes: Attributes): string {
  const language = attributes['fo:language'] ?? '';
  const country = attributes['fo:country'] ?? '';
  if (LANGUAGE_OF_NOTHING.has(language)) return '';
  return LANGUAGE_OF_NOTHING.has(country) ? language : `${language}-${country}`;
}

/** Below this size, in points, text cannot be read. */
const SMALLEST_SIZE = 2;
const WHITE = new Set(['#ffffff', '#fff', 'white']);

/**
 * Why text is not seen; undefined when it is.
 * @param isOnWhite whether the text stands on the page itself, which is white
 */
export function reasonHidden(look: Look, isOnWhite: boolean): string | undefined {
  if (look.isUndisplayed === true) return 'not displayed';
  if (look.size !== undefined && look.size < SMALLEST_SIZE) return 'smaller than 2 pt';
  if (look.color === undefined) return undefined;
  const isSame =
    look.background === undefined ? isOnWhite && WHITE.has(look.color) : look.color === look.background;
  return isSame ? 'in the colour of its background' : undefined;
}
