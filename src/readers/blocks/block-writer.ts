import type { Block } from './block.js';

interface BlockEnd {
  /** True for a line among others, such as an item of a list. Other blocks end with an empty line. */
  readonly isLine?: boolean | undefined;
}

/** Puts the white space between blocks, and hands out the text that is complete. */
export interface BlockWriter {
  /** Adds a block without white space at its ends. One without text is left out. */
  add(block: Block, end?: BlockEnd): void;
  /** Adds blocks that end as they should already, such as the rows of a table. */
  addFinished(blocks: Iterable<Block>): void;
  /** Returns the blocks that are complete since the last call. */
  readonly take: () => Block[];
  /** Returns the rest. */
  readonly end: () => Block[];
}

export function createBlockWriter(): BlockWriter {
  let done: Block[] = [];
  let last: { readonly block: Block; readonly isLine: boolean } | undefined;
  const finishLast = (isLineNext: boolean): void => {
    if (!last) return;
    const separator = last.isLine && isLineNext ? '\n' : '\n\n';
    done.push({ ...last.block, text: last.block.text + separator });
    last = undefined;
  };
  const take = (): Block[] => {
    const taken = done;
    done = [];
    return taken;
  };
  return {
    add: (block, { isLine = false } = {}) => {
      if (block.text === '') return;
      finishLast(isLine);
      last = { block, isLine };
    },
    addFinished: (blocks) => {
      finishLast(false);
      for (const block of blocks) done.push(block);
    },
    take,
    end: () => {
      finishLast(false);
      return take();
    },
  };
}
