import { countMatches } from '../../../blocks/matches.js';
import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { bottomOf, rightOf } from '../../pages/layout/piece.js';
import type { SignReader } from '../../signs/sign-reader.js';
import { withTexts } from '../with-items.js';

/** A character of a symbol font at the beginning of a line, with nothing beside it. */
const BULLET = /(?<=^|\n)([ \t]{0,9})([\uf020-\uf0ff])(?=\s|$)/gu;
/** A private character anywhere else, with no other beside it. */
const LONE = /(?<![\ue000-\uf8ff])[\uf020-\uf0ff](?![\ue000-\uf8ff])/gu;
/** The bullet in Word's default lists, which is one of the font Symbol. Their others are in Wingdings. */
const SYMBOL_BULLET = '\uf0b7';
/** Bullets of LibreOffice in its own font, which has its own private characters. */
const OFFICE_FONT = /^(?:[A-Z]{6}\+)?(?:OpenSymbol|StarSymbol)/;
const OFFICE_BULLET = /^\s{0,9}[\ue000-\ue0ff](?=\s|$)/u;
/** The greatest gap, in heights of the line, to a text directly before. No bullet stands behind such a text. */
const FARTHEST = 1.2;
/** A page with a larger share of private characters is in fonts whose letters are so. */
const MAX_PRIVATE = 0.3;

/**
 * Returns the text with signs in place of single private characters, whose font nobody knows: LibreOffice writes the
 * characters of missing fonts in its own, and other programs leave out the names. Characters that are no bullets are left
 * out.
 */
export const readPrivate = (text: string, signs: SignReader): string =>
  withoutLone(
    text.replace(BULLET, (_, space: string, sign: string) => space + bulletOf(sign, signs)),
    signs,
  );

const bulletOf = (sign: string, signs: SignReader): string =>
  signs.read(sign, sign === SYMBOL_BULLET ? 'Symbol' : 'Wingdings');

const withoutLone = (text: string, signs: SignReader): string =>
  text.replace(LONE, (sign) => signs.read(sign, undefined));

/** The page with signs in place of private characters, unless these are its letters. */
export function withPrivateSigns(page: ParsedPage, signs: SignReader): ParsedPage {
  const found = page.textItems.filter(({ text }) => /[\ue000-\uf8ff]/.test(text));
  if (found.length === 0) return page;
  const all = page.textItems.map(({ text }) => text).join('');
  const count = countMatches(all, /[\ue000-\uf8ff]/g);
  if (count > MAX_PRIVATE * all.replace(/\s/g, '').length) return page;
  return withTexts(page, new Map(found.map((item) => [item, shownIn(item, page.textItems, signs)])));
}

function shownIn(item: TextItem, items: readonly TextItem[], signs: SignReader): string {
  const { text, fontName = '' } = item;
  if (items.some((other) => other !== item && isDirectlyBefore(other, item))) return withoutLone(text, signs);
  return readPrivate(OFFICE_FONT.test(fontName) ? text.replace(OFFICE_BULLET, '•') : text, signs);
}

/** Tells whether a text of the same line ends where another begins. */
function isDirectlyBefore(other: TextItem, { x, y, height }: TextItem): boolean {
  const middle = y + height / 2;
  const gap = x - rightOf(other);
  return middle > other.y && middle < bottomOf(other) && gap > -height && gap < FARTHEST * height;
}
