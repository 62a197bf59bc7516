import type { Block } from '../../blocks/block.js';
import { pageBlocks, withBoxes } from './layout/page-blocks.js';
import { turnBack } from './native-pieces.js';
import type { Piece } from './layout/piece.js';
import type { Turn } from './pdfium.js';
import { setAskew } from './skew.js';

/** A page whose texts are known. */
export interface ReadPage {
  readonly number: number;
  /** The width of the page as it was read, upright, in points. */
  readonly width: number;
  readonly height: number;
  /** The turn that set the page upright; undefined for an upright page. */
  readonly turn: Turn | undefined;
  /** The degrees by which it lay askew, clockwise, before it was straightened; 0 or absent for a straight page. */
  readonly skew?: number;
  readonly pieces: readonly Piece[];
}

/**
 * Yields the blocks of a page. Their boxes are on the page as it is shown, also when it was set upright or straightened to
 * be read.
 */
export function* shownBlocks(
  { number, pieces, turn, skew = 0, width, height }: ReadPage,
  bodySize: number,
): Iterable<Block> {
  for (const block of pageBlocks({ page: number, pieces, bodySize })) {
    yield withBoxes(block, (box) => {
      const upright = skew === 0 ? box : setAskew(box, { skew, width, height });
      return turn ? turnBack(upright, turn, { width, height }) : upright;
    });
  }
}
