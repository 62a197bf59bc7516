import { ReadError } from '../../read-error.js';
import type { Block } from '../../blocks/block.js';

/** Passes blocks on. @throws ReadError `corrupt` when there are none, and their source has ended early */
export function* failIfNothing(blocks: Iterable<Block>, isCut: () => boolean, what: string): Iterable<Block> {
  let isEmpty = true;
  for (const block of blocks) {
    isEmpty = false;
    yield block;
  }
  if (isEmpty && isCut()) throw new ReadError('corrupt', `The ${what} ends too early.`);
}
