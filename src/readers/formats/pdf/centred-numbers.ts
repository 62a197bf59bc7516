import { countMatches } from '../../blocks/matches.js';
import type { ParsedPage, TextItem } from '@llamaindex/liteparse';
import { holds } from '../pages/layout/piece.js';
import { turnBack } from '../pages/native-pieces.js';
import type { Pdfium, Turn } from '../pages/pdfium.js';
import { withItems } from './with-items.js';

/** A page with more texts is left as it was read. */
const MAX_ITEMS = 5_000;
/** The angle by which pages are turned to be read again. */
const ANGLE = 90;

interface Source {
  readonly pdfium: Pick<Pdfium, 'readUpright'>;
  readonly bytes: Uint8Array;
}

/**
 * Adds numbers that PDFium's reader leaves out. It takes every number in the middle of a page's width for the page number,
 * and leaves it out of its texts and tables, but not out of the plain text of the page. Pages that miss more than the
 * number at their top or bottom are read again on their side, where such a number does not stand in the middle.
 */
export async function addCentredNumbers(
  pages: readonly ParsedPage[],
  turns: ReadonlyMap<number, Turn>,
  { pdfium, bytes }: Source,
): Promise<readonly ParsedPage[]> {
  const incomplete = pages.filter((page) => !turns.has(page.pageNum) && missesNumbers(page));
  if (incomplete.length === 0) return pages;
  const askedFor = incomplete.map(({ pageNum }) => ({ page: pageNum, angle: ANGLE }) as const);
  const read = await pdfium.readUpright(bytes, askedFor, { withShapes: false }).catch(() => []);
  const sideways = new Map(read.map((page) => [page.pageNum, page]));
  return pages.map((page) => {
    const other = incomplete.includes(page) ? sideways.get(page.pageNum) : undefined;
    return other ? withNumbers(page, other) : page;
  });
}

function missesNumbers({ text, textItems }: ParsedPage): boolean {
  if (textItems.length > MAX_ITEMS) return false;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (isShort(lines[0])) lines.shift();
  if (isShort(lines.at(-1))) lines.pop();
  return lettersOf(lines.join('')) > lettersOf(textItems.map((item) => item.text).join(''));
}

const isShort = (line = ''): boolean => line.trim().length < 4;

const lettersOf = (text: string): number => countMatches(text, /[\p{L}\p{N}]/gu);

function withNumbers(page: ParsedPage, sideways: ParsedPage): ParsedPage {
  const found = sideways.textItems
    .filter(({ text }) => /^[^\p{L}\s]{0,3}\d[^\p{L}\s]{0,3}$/u.test(text.trim()))
    .slice(0, MAX_ITEMS)
    .map((item): TextItem => ({ ...item, ...turnBack(item, { angle: ANGLE }, sideways), rotation: 0 }))
    .filter((item) => !page.textItems.some((other) => holds(other, item) || holds(item, other)));
  return withItems(page, found);
}
