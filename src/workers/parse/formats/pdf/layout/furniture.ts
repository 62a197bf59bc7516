import { bottomOf, type Piece } from './piece.js';

/** The part of a page at its top and bottom where headers and footers stand. */
const EDGE = 0.12;
/** A line is furniture when it stands at the same place of so many pages, and of this share of them. */
const FEWEST_PAGES = 3;
const SHARE = 0.25;
/** Heights within so many points are the same place. */
const SAME_PLACE = 6;

interface FurniturePage {
  readonly height: number;
  readonly pieces: readonly Piece[];
}

/**
 * Finds headers, footers and page numbers, by what most pages of a batch repeat at the same place; numbers count as the
 * same text. The first page that shows a text keeps it.
 */
export function createFurniture() {
  const shown = new Set<string>();
  return {
    /** The pieces of each page without its furniture. */
    strip<Page extends FurniturePage>(pages: readonly Page[]): Page[] {
      const counts = new Map<string, number>();
      const seen = pages.map((page) => {
        const keys = new Map<Piece, string>();
        for (const piece of page.pieces) {
          const key = keyOf(piece, page.height);
          if (key !== undefined) keys.set(piece, key);
        }
        for (const key of new Set(keys.values())) counts.set(key, (counts.get(key) ?? 0) + 1);
        return keys;
      });
      const fewest = Math.max(FEWEST_PAGES, pages.length * SHARE);
      const known = new Set(shown);
      return pages.map((page, index) => ({
        ...page,
        pieces: page.pieces.filter((piece) => {
          const key = seen[index]?.get(piece);
          if (key === undefined) return true;
          const isRepeated = (counts.get(key) ?? 0) >= fewest;
          if (!isRepeated) return !known.has(key);
          // What is only a number says nothing even once.
          const isFirst = !shown.has(key) && /\p{L}{2}/u.test(piece.text);
          shown.add(key);
          return isFirst;
        }),
      }));
    },
  };
}

/** What a text near an edge is recognized by; undefined for one in the middle of the page. */
function keyOf({ table, text, ...box }: Piece, height: number): string | undefined {
  const isTop = bottomOf(box) <= height * EDGE;
  const isBottom = box.y >= height * (1 - EDGE);
  if (table || !(isTop || isBottom)) return undefined;
  const words = text.replace(/\d+/g, '#').replace(/(?<=^|[\s(-])[ivxlc]{1,7}(?=[\s).-]|$)/g, '#');
  return `${String(Math.round(box.y / SAME_PLACE))} ${words}`;
}
