import type { Block } from '../../extraction/block.js';

/** What stands between two pieces of text. */
export type Separator = '\n' | '\n\n' | ' | ';

/** Joins pieces of text to blocks. Of several separators in a row the widest is used, and none at the beginning. */
export interface TextFlow {
  separate(separator: Separator): void;
  append(text: string): void;
  /** Puts a mark, such as that of an item of a list, in front of the next text. */
  mark(text: string): void;
  /** Begins a row, whose first cell gets no separator. */
  beginRow(): void;
  beginPreformatted(): void;
  endPreformatted(): void;
  /** Makes the blocks that begin from now on headings of a level, or ordinary ones. */
  setHeading(level: number | undefined): void;
  /** Ends the block that is open. */
  cut(): void;
}

interface State {
  parts: string[];
  gap: string;
  mark: string;
  preformatted: number;
  isLineOpen: boolean;
  heading: number | undefined;
  /** The heading that the open block is. */
  blockHeading: number | undefined;
}

/** @param emit takes each block that is complete, with the empty line that separates it from the next */
export function createTextFlow(emit: (block: Block) => void): TextFlow {
  const state = newState();
  const finish = (): void => {
    const { parts, blockHeading: heading } = state;
    if (parts.length === 0) return;
    emit({ text: `${parts.join('')}\n\n`, ...(heading === undefined ? {} : { heading }) });
    state.parts = [];
  };
  return {
    separate: (separator) => {
      if (isWider(state, separator)) state.gap = separator;
    },
    append: (text) => appendText(state, text, finish),
    mark: (text) => {
      state.mark = text;
    },
    beginRow: () => {
      state.isLineOpen = false;
    },
    beginPreformatted: () => {
      state.preformatted += 1;
    },
    endPreformatted: () => {
      state.preformatted = Math.max(0, state.preformatted - 1);
    },
    setHeading: (level) => {
      state.heading = level;
    },
    cut: () => {
      finish();
      state.gap = '';
    },
  };
}

const newState = (): State => ({
  parts: [],
  gap: '',
  mark: '',
  preformatted: 0,
  isLineOpen: false,
  heading: undefined,
  blockHeading: undefined,
});

function isWider({ gap, isLineOpen }: State, separator: Separator): boolean {
  if (separator === ' | ') return isLineOpen && !gap.includes('\n');
  return separator.length > (gap.includes('\n') ? gap.length : 0);
}

function appendText(state: State, text: string, finish: () => void): void {
  const isPlain = state.preformatted === 0;
  const solid = isPlain ? text.replace(/[\s\u00a0]+/g, ' ') : text;
  if (isPlain && solid.trim() === '') {
    if (solid !== '' && state.gap === '') state.gap = ' ';
    return;
  }
  if (state.gap === '\n\n') finish();
  if (state.parts.length === 0) state.blockHeading = state.heading;
  else state.parts.push(state.gap === '' && isPlain && solid.startsWith(' ') ? ' ' : state.gap);
  state.parts.push(state.mark, isPlain ? solid.trim() : solid);
  state.mark = '';
  state.gap = isPlain && solid.endsWith(' ') ? ' ' : '';
  state.isLineOpen = true;
}
