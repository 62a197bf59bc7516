import { bottomOf, median, rightOf, around } from '../../pages/layout/piece.js';
import type { Rectangle } from '../../../blocks/location.js';
import type { ColumnPart } from './column-parts.js';

export const EAST_ASIAN =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3001-\\u303f\\u30fb-\\u30fe\\ufe10-\\ufe1f\\ufe30-\\ufe4f\\uff01-\\uff60]';
const ONE_CHARACTER = new RegExp(`^${EAST_ASIAN}$`, 'u');
/** Forms of characters for vertical text, and radicals that fonts give in place of the characters themselves. */
const OTHER_FORM = /[\u2e80-\u2fdf\ufe10-\ufe1f\ufe30-\ufe4f]/g;

/** This many single characters of a page that stand one below another tell that its text runs from top to bottom. */
const MIN_CHARACTERS = 8;
/** Fewer of them are no column, unless they stand beside one. */
const MIN_IN_COLUMN = 3;
/** The widest gaps in a column, in sizes of its font: where only the order of drawing tells of it, and with columns beside it that are farther. */
const MAX_GAP = 0.25;
const MAX_BETWEEN_COLUMNS = 0.65;
/** Places within a column differ by less, in sizes of its font; places of punctuation by more. */
const SAME_COLUMN = 0.45;
const SAME_SIZE = 1.2;
const MAX_OPEN = 4;
/** A shorter column stands so near beside another one, in sizes of its font, and begins at its height or is set in. */
const FARTHEST_BESIDE = 2.6;
const MAX_INDENT = 2.2;
/** The greatest ratio by which the readings of characters are smaller than these. */
const MAX_SMALLER = 1.6;
/** The number of columns that are compared with each other. */
const MAX_COLUMNS = 2_000;

/** A column of text that runs from top to bottom, with its box on the page. */
export interface TextColumn extends Rectangle {
  readonly size: number;
  readonly glyphs: readonly Glyph[];
}

/** A character, or some that stand side by side or lie on their side, by its middle. */
export interface Glyph {
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/**
 * Finds the columns of a page whose text runs from top to bottom, in the order in which they are drawn: by their fonts, or
 * since single characters are drawn one below another.
 */
export function findColumns(parts: readonly (ColumnPart | undefined)[]): TextColumn[] {
  const chains = chainsOf(parts).slice(0, MAX_COLUMNS).map(toChain);
  const sure = chains.filter(isVertical);
  const long = chains.filter(({ characters }) => characters >= MIN_IN_COLUMN);
  const stacked = long.filter((chain) => !isVertical(chain) && isStack(chain, long));
  const characters = stacked.reduce((sum, chain) => sum + chain.characters, 0);
  const found = new Set([...sure, ...(characters < MIN_CHARACTERS ? [] : stacked)]);
  if (found.size === 0) return [];
  const columns = [...found];
  return chains
    .filter(
      (chain) =>
        found.has(chain) || columns.some((column) => isBeside(chain, column) || isReading(chain, column)),
    )
    .map(({ parts: own, size, box }) => ({ ...box, size, glyphs: own.flatMap(glyphsOf) }));
}

/** Texts that stand one below another. Values that many are compared with are computed once. */
interface Chain {
  readonly parts: readonly ColumnPart[];
  readonly box: Rectangle;
  readonly size: number;
  /** The number of texts that are single characters. */
  readonly characters: number;
}

function toChain(parts: readonly ColumnPart[]): Chain {
  const boxes = parts.map(({ middle, top, bottom, size }) => ({
    x: middle - size / 2,
    y: top,
    width: size,
    height: bottom - top,
  }));
  const size = median(parts.map((part) => part.size));
  return { parts, box: around(boxes), size, characters: parts.filter(isCharacter).length };
}

/**
 * Returns texts that are drawn one below another. Texts drawn between them, such as readings beside characters, do not end
 * a column.
 */
function chainsOf(parts: readonly (ColumnPart | undefined)[]): (readonly ColumnPart[])[] {
  const chains: ColumnPart[][] = [];
  for (const part of parts) {
    if (!part) continue;
    const open = chains.slice(-MAX_OPEN).findLast((chain) => follows(chain.at(-1), part));
    if (open) open.push(part);
    else chains.push([part]);
  }
  return chains;
}

function follows(before: ColumnPart | undefined, part: ColumnPart): boolean {
  if (!before) return false;
  const size = Math.max(before.size, part.size);
  if (size > SAME_SIZE * Math.min(before.size, part.size)) return false;
  const gap = part.top - before.bottom;
  return (
    Math.abs(part.middle - before.middle) <= SAME_COLUMN * size &&
    gap > -0.5 * size &&
    gap <= MAX_BETWEEN_COLUMNS * size
  );
}

const isCharacter = ({ text }: ColumnPart): boolean => ONE_CHARACTER.test(text);

/** Tells whether a chain is in a font for vertical text; a single character of it tells no direction. */
const isVertical = ({ parts }: Chain): boolean =>
  parts.filter((part) => part.isVertical).reduce((sum, { text }) => sum + [...text].length, 0) > 1;

/**
 * Tells whether single characters stand closer to the characters below them than to the characters beside them. @param
 * chains the chains of several characters
 */
function isStack({ parts, box: own, size }: Chain, chains: readonly Chain[]): boolean {
  const gap = median(parts.slice(1).map((part, at) => part.top - (parts[at]?.bottom ?? part.top))) / size;
  if (gap <= MAX_GAP) return true;
  let nearest = Infinity;
  for (const { box } of chains) {
    const isLevel = box !== own && box.y < bottomOf(own) && bottomOf(box) > own.y;
    if (isLevel) nearest = Math.min(nearest, Math.max(box.x - rightOf(own), own.x - rightOf(box)) / size);
  }
  return nearest < Infinity && nearest > 1.2 * gap;
}

/** Tells whether a short chain is a further column beside one, such as the end of its last sentence. */
function isBeside({ box, size: own, characters }: Chain, { box: column, size }: Chain): boolean {
  if (characters === 0 || own > SAME_SIZE * size || size > SAME_SIZE * own) return false;
  const gap = column.x - rightOf(box);
  const down = box.y - column.y;
  return gap > 0 && gap <= FARTHEST_BESIDE * size && down > -0.5 * size && down <= MAX_INDENT * size;
}

/** Tells whether a chain is the reading of characters, which stands to the right of them in small letters. */
function isReading(chain: Chain, { box: column, size }: Chain): boolean {
  const { box } = chain;
  return (
    chain.characters === chain.parts.length &&
    chain.size * MAX_SMALLER <= size &&
    Math.abs(box.x - rightOf(column)) <= 0.8 * size &&
    box.y >= column.y - size &&
    bottomOf(box) <= bottomOf(column) + size
  );
}

/** The text with the usual forms of characters in place of their forms for vertical text, and of radicals. */
export const inUsualForm = (text: string): string =>
  text.replace(OTHER_FORM, (form) => form.normalize('NFKC'));

function glyphsOf({ text, middle, top, bottom, isVertical }: ColumnPart): Glyph[] {
  const written = inUsualForm(text);
  if (!isVertical) return [{ text: written, x: middle, y: (top + bottom) / 2 }];
  const characters = [...written];
  const step = (bottom - top) / characters.length;
  return characters.map((character, at) => ({ text: character, x: middle, y: top + (at + 0.5) * step }));
}
