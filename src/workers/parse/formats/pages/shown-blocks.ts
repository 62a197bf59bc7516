import type { Block } from '../../extraction/block.js';
import { pageBlocks, rounded } from './layout/page-blocks.js';
import { turnBack } from './native-pieces.js';
import type { Piece } from './layout/piece.js';
import type { Turn } from './pdfium.js';

/** A page whose texts are known. */
export interface ReadPage {
  readonly number: number;
  /** Of the page as it was read, upright. */
  readonly width: number;
  readonly height: number;
  /** How it was set upright; undefined for a page that is. */
  readonly turn: Turn | undefined;
  readonly pieces: readonly Piece[];
}

/** The blocks of a page, whose boxes are those of the page as it is shown, also when it was set upright to be read. */
export function* shownBlocks(
  { number, pieces, turn, width, height }: ReadPage,
  bodySize: number,
): Iterable<Block> {
  for (const block of pageBlocks({ page: number, pieces, bodySize })) {
    if (!turn || !block.place?.boxes) yield block;
    else {
      const boxes = block.place.boxes.map((box) => rounded(turnBack(box, turn, { width, height })));
      yield { ...block, place: { ...block.place, boxes } };
    }
  }
}
