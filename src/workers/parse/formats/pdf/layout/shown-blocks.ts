import type { Block } from '../../../extraction/block.js';
import { pageBlocks } from './page-blocks.js';
import { turnBack } from '../native-pieces.js';
import type { ResolvedPage } from '../resolve-page.js';

type Page = Pick<ResolvedPage, 'number' | 'pieces' | 'turn' | 'width' | 'height'>;

/** The blocks of a page, whose boxes are those of the page as it is shown, also when it was set upright to be read. */
export function* shownBlocks(
  { number, pieces, turn, width, height }: Page,
  bodySize: number,
): Iterable<Block> {
  for (const block of pageBlocks({ page: number, pieces, bodySize })) {
    if (!turn || !block.place?.boxes) yield block;
    else {
      const boxes = block.place.boxes.map((box) => turnBack(box, turn, { width, height }));
      yield { ...block, place: { ...block.place, boxes } };
    }
  }
}
