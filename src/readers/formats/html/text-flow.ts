import type { Block } from '../../blocks/block.js';
import { writePieces, type Piece } from '../baseline/pieces.js';
import type { Shift } from '../baseline/shift.js';
import { collapseBlanks, trimBlanks } from '../../blocks/one-line.js';

/** The separator between two pieces of text. */
export type Separator = '\n' | '\n\n' | ' | ';

/** Joins pieces of text to blocks. Of several separators in a row the widest is used, and none at the beginning. */
export interface TextFlow {
  separate(separator: Separator): void;
  /** @param shifts how the text is raised and lowered, from the outermost */
  append(text: string, shifts?: readonly Shift[]): void;
  /** Puts a mark, such as the mark of a list item, in front of the next text. */
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
  pieces: Piece[];
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
    const { pieces, blockHeading: heading } = state;
    if (pieces.length === 0) return;
    emit({ text: `${writePieces(pieces)}\n\n`, ...(heading === undefined ? {} : { heading }) });
    state.pieces = [];
  };
  return {
    separate: (separator) => {
      if (isWider(state, separator)) state.gap = separator;
    },
    append: (text, shifts = []) => appendText(state, { text, shifts }, finish),
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
  pieces: [],
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

function appendText(state: State, { text, shifts }: Piece, finish: () => void): void {
  const isPlain = state.preformatted === 0;
  const solid = isPlain ? collapseBlanks(text) : text;
  if (isPlain && trimBlanks(solid) === '') {
    if (solid !== '' && state.gap === '') state.gap = ' ';
    return;
  }
  if (state.gap === '\n\n') finish();
  const { pieces } = state;
  if (pieces.length === 0) state.blockHeading = state.heading;
  else {
    const gap = state.gap === '' && isPlain && solid.startsWith(' ') ? ' ' : state.gap;
    // A blank between two raised words is raised as well.
    pieces.push({ text: gap, shifts: gap === ' ' ? sharedShifts(pieces.at(-1)?.shifts, shifts) : [] });
  }
  if (state.mark !== '') pieces.push({ text: state.mark, shifts: [] });
  pieces.push({ text: isPlain ? trimBlanks(solid) : solid, shifts });
  state.mark = '';
  state.gap = isPlain && solid.endsWith(' ') ? ' ' : '';
  state.isLineOpen = true;
}

function sharedShifts(left: readonly Shift[] = [], right: readonly Shift[]): readonly Shift[] {
  const end = left.findIndex((shift, index) => shift !== right[index]);
  return end < 0 ? left : left.slice(0, end);
}
