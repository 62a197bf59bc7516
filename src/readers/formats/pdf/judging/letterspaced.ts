import { at } from '../../../../shared/at.js';
import { countMatches } from '../../../blocks/matches.js';
import type { TextItem } from '@llamaindex/liteparse';
import { around, median, rightOf } from '../../pages/layout/piece.js';
import { itemKey } from '../../pages/native-pieces.js';
import type { Pdfium } from '../../pages/pdfium.js';
import type { SeenPage } from '../hidden.js';

const ALPHABETIC = String.raw`[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]`;
/** Letters, digits and signs, each with a space before the next. */
const SPACED = /^[\p{L}\p{N}.,:;!?&'’–-](?: +[\p{L}\p{N}.,:;!?&'’–-])*$/u;
const LETTER = new RegExp(ALPHABETIC, 'gu');
const VOWEL = /[aeiouyáàâäãåæéèêëíìîïóòôöõøœúùûüýаеёиоуыэюяіїєαεηιουωάέήίόύώ]/iu;
/** More consonants in a row than most languages have, in words as short as lists of single letters may be. */
const CONSONANTS = /[bcdfghjklmnpqrstvwxz]{4}/iu;
const SHORT_WORD = 6;
/** Fewer letters may be a list of letters. */
const MIN_LETTERS = 5;
/** Letters stand less far apart, in sizes of their font. Cells of tables do not. */
const MAX_GAP = 1.3;
/** Words are farther apart than their letters by this factor. */
const WORD_GAP = 1.55;
const MAX_ITEMS = 500;

/** A page with headings whose letters are set apart (`I N T R O`) as words. Their gaps tell where words end. */
export async function joinLetterspaced(
  seen: SeenPage,
  { pdfium, bytes }: { readonly pdfium: Pick<Pdfium, 'readWords'>; readonly bytes: Uint8Array },
): Promise<SeenPage> {
  const items = seen.page.textItems.filter(isSpaced).slice(0, MAX_ITEMS);
  const letters = items.reduce((sum, { text }) => sum + countMatches(text, LETTER), 0);
  if (letters < MIN_LETTERS) return seen;
  const { pageNum } = seen.page;
  const read = await pdfium.readWords(bytes, [pageNum]).catch(() => undefined);
  const words = new Map((read?.get(pageNum) ?? []).map((item) => [itemKey(item), item.words ?? []]));
  const replaced = new Map<TextItem, TextItem | undefined>();
  for (const row of rowsOf(items)) {
    const text = wordsOf(
      row,
      row.flatMap((item) => words.get(itemKey(item)) ?? []),
    );
    const [first] = row;
    if (text === undefined || !first) continue;
    for (const item of row) replaced.set(item, undefined);
    replaced.set(first, { ...first, ...around(row), text });
  }
  if (replaced.size === 0) return seen;
  const joined = (all: readonly TextItem[]) =>
    all.flatMap((item) => (replaced.has(item) ? (replaced.get(item) ?? []) : [item]));
  const textItems = joined(seen.page.textItems);
  const visible = seen.visible === seen.page.textItems ? textItems : joined(seen.visible);
  return { ...seen, page: { ...seen.page, textItems }, visible };
}

const isSpaced = ({ text, rotation = 0 }: TextItem): boolean => rotation === 0 && SPACED.test(text.trim());

const heightOf = ({ fontHeight, height }: TextItem): number => fontHeight ?? height;

/** Spaced texts that stand side by side in one size, each row from the left. */
function rowsOf(items: readonly TextItem[]): TextItem[][] {
  const rows: TextItem[][] = [];
  for (const item of items.toSorted((a, b) => a.y - b.y || a.x - b.x)) {
    const last = rows.at(-1)?.at(-1);
    const isBeside =
      last !== undefined &&
      Math.abs(last.y - item.y) < 1 &&
      Math.abs(heightOf(last) - heightOf(item)) < 0.5 &&
      item.x - rightOf(last) < 2.5 * MAX_GAP * heightOf(item);
    if (isBeside) rows.at(-1)?.push(item);
    else rows.push([item]);
  }
  return rows;
}

type Letter = NonNullable<TextItem['words']>[number];

/** The words of a row of letters; undefined when they are none, such as a list of letters. */
function wordsOf(row: readonly TextItem[], letters: readonly Letter[]): string | undefined {
  const [first] = row;
  const texts = letters.map(({ text }) => text);
  if (!first || texts.join('') !== row.map(({ text }) => text.replace(/\s+/g, '')).join('')) return undefined;
  if (texts.some((text) => [...text].length !== 1)) return undefined;
  const gaps = letters.slice(1).map((letter, at) => letter.x - rightOf(letters[at] ?? letter));
  const usual = median(gaps);
  if (usual <= 0 || usual > MAX_GAP * heightOf(first)) return undefined;
  const text = texts.reduce((all, letter, at) => {
    const gap = gaps[at - 1] ?? 0;
    return all + (gap > WORD_GAP * usual + 0.05 * heightOf(first) ? ' ' : '') + letter;
  }, '');
  return areWords(text) ? text : undefined;
}

function areWords(text: string): boolean {
  const letters = text.match(LETTER) ?? [];
  if (letters.length < MIN_LETTERS || isAlphabet(letters)) return false;
  const words = text.match(new RegExp(`${ALPHABETIC}+`, 'gu')) ?? [];
  const isLong =
    words.some((word) => word.length >= 4) || words.filter((word) => word.length === 3).length > 1;
  if (letters.length < 2 * words.length || !isLong) return false;
  return words.every(
    (word) => word.length < 3 || (VOWEL.test(word) && !(word.length <= SHORT_WORD && CONSONANTS.test(word))),
  );
}

/** Tells whether most letters follow each other as in the alphabet. */
function isAlphabet(letters: readonly string[]): boolean {
  const codes = letters.map((letter) => letter.toLowerCase().charCodeAt(0));
  const following = codes.slice(1).filter((code, index) => code === at(codes, index) + 1).length;
  return following * 2 > codes.length;
}
