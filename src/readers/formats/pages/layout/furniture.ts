import { bottomOf, standsAlone, type Piece } from './piece.js';
import { addTo, sumOf } from '../../../../shared/at.js';

/** The part of a page at its top and bottom where headers and footers stand. */
const EDGE = 0.12;
/** A line is furniture when it stands at the same place of at least this many pages, and of this share of them. */
const MIN_PAGES = 3;
const SHARE = 0.25;
/** Heights within this many points are the same place. */
const SAME_PLACE = 6;
/** The most numbers that a line may have for one of them to be the page number. */
const MAX_NUMBERS = 4;

interface FurniturePage {
  readonly height: number;
  readonly pieces: readonly Piece[];
}

/**
 * Finds headers, footers and page numbers by the texts that many pages of a batch repeat at the same place. Texts are the
 * same when they are equal, or differ only in one number that rises by one with each page; any other number makes another
 * text, since an invoice or a table says something else with each. The first page that shows a text keeps it.
 */
export function createFurniture() {
  const shown = new Set<string>();
  let pagesBefore = 0;
  return {
    /** Returns the pieces of each page without its furniture. @param pages the pages after those of the previous call */
    strip<Page extends FurniturePage>(pages: readonly Page[]): Page[] {
      const keysOfPages = pages.map((page, index) => keysOfPage(page, pagesBefore + index));
      pagesBefore += pages.length;
      const counts = countPages(keysOfPages);
      const fewest = Math.max(MIN_PAGES, pages.length * SHARE);
      const known = new Set(shown);
      return pages.map((page, index) => ({
        ...page,
        pieces: page.pieces.filter((piece) => {
          const keys = keysOfPages[index]?.get(piece) ?? [];
          const repeated = keys.find((key) => sumOf(counts, key) >= fewest);
          if (repeated === undefined) return !keys.some((key) => known.has(key));
          // The number of a page says nothing even once.
          const isFirst = !shown.has(repeated) && /\p{L}{2}/u.test(piece.text);
          shown.add(repeated);
          return isFirst;
        }),
      }));
    },
  };
}

type Keys = ReadonlyMap<Piece, readonly string[]>;

function keysOfPage({ pieces, height }: FurniturePage, index: number): Keys {
  const keysByPiece = new Map<Piece, readonly string[]>();
  for (const piece of pieces) {
    const keys = keysOf(piece, height, index);
    if (keys.length > 0) keysByPiece.set(piece, keys);
  }
  return keysByPiece;
}

function countPages(keysOfPages: readonly Keys[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const keys of keysOfPages) for (const key of new Set([...keys.values()].flat())) addTo(counts, key);
  return counts;
}

/** Returns the keys that recognize a text near an edge; none for one in the middle of the page. */
function keysOf(piece: Piece, height: number, index: number): string[] {
  const isTop = bottomOf(piece) <= height * EDGE;
  const isBottom = piece.y >= height * (1 - EDGE);
  if (standsAlone(piece) || !(isTop || isBottom)) return [];
  const place = `${String(Math.round(piece.y / SAME_PLACE))} `;
  const words = piece.text.trim();
  if (/^[ivxlc]{1,7}$/.test(words)) return [`${place}#`];
  return [words, ...withPageNumber(words, index)].map((each) => place + each);
}

const PAGE =
  /(?:^|[^\p{L}])(?:p|pp|pg|page|seite|s|página|pagina|pág|strona|sida|side|sivu|стр|页|頁|第)(?:[^\p{L}]|$)/iu;

/**
 * `Question 12` is a heading on a page of its own; a number alone, with the word for a page, or at an end of a longer line
 * is a page number.
 */
function mayHoldPageNumber(before: string, after: string): boolean {
  const rest = `${before} ${after}`;
  const words = rest.match(/\p{L}{2,}/gu)?.length ?? 0;
  return words === 0 || PAGE.test(rest) || (words >= 3 && (before.trim() === '' || after.trim() === ''));
}

/** The text with each of its numbers in turn as its distance from the place of the page. Digits of words are no numbers. */
function withPageNumber(text: string, index: number): string[] {
  const numbers = [...text.matchAll(/(?<![\p{L}\p{N}.,])\d{1,6}(?![\p{L}\p{N}]|[.,]\d)/gu)];
  return numbers.slice(0, MAX_NUMBERS).flatMap(({ index: at, 0: number }) => {
    const [before, after] = [text.slice(0, at), text.slice(at + number.length)];
    if (!mayHoldPageNumber(before, after)) return [];
    return [`${before}#${String(Number(number) - index)}${after}`];
  });
}
