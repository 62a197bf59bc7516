import type { Piece } from './piece.js';

const MAX_PIECES = 2_000;
const MAX_CHARACTERS = 400;
/** More sizes than a document has; at this number the sizes of earlier pages are forgotten. */
const MAX_SIZES = 10_000;

/** Finds the size of ordinary text in a document, in points: half of its characters are of that size or smaller. */
export function createBodySize() {
  const weights = new Map<number, number>();
  let total = 0;
  return {
    /** @param pieces the pieces of the next page */
    add(pieces: readonly Piece[]): void {
      if (weights.size > MAX_SIZES) {
        weights.clear();
        total = 0;
      }
      for (const { text, size } of pieces.slice(0, MAX_PIECES)) {
        const weight = Math.ceil(Math.min(text.length, MAX_CHARACTERS) / 20);
        weights.set(size, (weights.get(size) ?? 0) + weight);
        total += weight;
      }
    },
    /** 0 while there is no text. */
    usual(): number {
      let left = Math.floor(total / 2);
      for (const [size, weight] of [...weights].sort(([a], [b]) => a - b)) {
        left -= weight;
        if (left < 0) return size;
      }
      return 0;
    },
  };
}
