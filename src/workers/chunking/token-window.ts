import { at } from '../../shared/at.js';
import { countPieces } from '../../shared/text/token-count.js';

const PIECES_AT_ONCE = 256;

/** Pieces of the text from the start of the chunk. Piece `i` is between `borders[i]` and `borders[i + 1]`. */
export interface Window {
  borders: number[];
  counts: number[];
}

/** Counts pieces until the window holds more than `tokens` or the text ends. Returns the tokens in the window. */
export function fillWindow(text: string, window: Window, tokens: number): number {
  let total = 0;
  for (const count of window.counts) total += count;
  const known: readonly number[] = window.borders;
  let last = known.at(-1) ?? text.length;
  while (last < text.length && total <= tokens) {
    const { ends, counts } = countPieces(text, last, PIECES_AT_ONCE);
    for (const border of ends) window.borders.push(border);
    for (const count of counts) {
      window.counts.push(count);
      total += count;
    }
    last = ends.at(-1) ?? text.length;
  }
  return total;
}

/** Returns the window from `start` on. The text is split again from there until a border is one of the known ones. */
export function windowFrom(text: string, { borders, counts }: Window, start: number): Window {
  let index = borders.findIndex((border) => border >= start);
  if (index < 0) return { borders: [start], counts: [] };
  const newBorders = [start];
  const newCounts: number[] = [];
  let position = start;
  while (position !== borders[index]) {
    const { ends, counts: found } = countPieces(text, position, 1);
    position = at(ends, 0);
    newBorders.push(position);
    newCounts.push(at(found, 0));
    while (index < borders.length && at(borders, index) < position) index += 1;
    if (index >= borders.length) return { borders: newBorders, counts: newCounts };
  }
  return {
    borders: newBorders.concat(borders.slice(index + 1)),
    counts: newCounts.concat(counts.slice(index)),
  };
}
