import type { Attributes } from '../xml/read-markup.js';
import { createListStyles } from './lists/list-styles.js';

/** The sign before the items of a list. */
export interface Bullet {
  readonly sign: string;
  readonly font: string | undefined;
}

const MAX_FONTS = 10_000;

/** Collects the fonts that styles name, and the marks of lists, whose bullets are in fonts of their own. */
export function createFonts() {
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
        families.set(attributes['style:name'] ?? '', attributes['svg:font-family'] ?? '');
      else if (name === 'text:list-style') list = attributes['style:name'] ?? '';
      else if (name.startsWith('text:list-level-style-')) {
        const sign = attributes['text:bullet-char'];
        bullet = sign === undefined ? undefined : `${list}/${attributes['text:level'] ?? '1'}`;
        if (bullet !== undefined && bullets.size < MAX_FONTS)
          bullets.set(bullet, { sign: sign ?? '', font: undefined });
      } else if (name === 'style:text-properties' && bullet !== undefined) {
        const known = bullets.get(bullet);
        if (known) bullets.set(bullet, { ...known, font: nameOf(attributes) ?? known.font });
      } else if (name === 'style:style') bullet = undefined;
    },
    bullet: (style: string | undefined, level: number): Bullet | undefined =>
      bullets.get(`${style ?? ''}/${String(level)}`),
    numbers: lists.numbers,
    /** Returns the font of text, as properties say it. */
    lookOf: (attributes: Attributes): { readonly font?: string } => {
      const font = nameOf(attributes);
      return font === undefined ? {} : { font };
    },
  };
}
