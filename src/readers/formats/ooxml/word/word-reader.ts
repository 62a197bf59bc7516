import type { Fill } from '../../visibility/layers.js';
import type { createGraphics } from '../drawing/graphic.js';
import type { GapCounter } from '../gap-counter.js';
import type { ReadImport } from './imports.js';
import type { Notes } from './notes.js';
import type { Numbering } from './numbering.js';
import type { WordStyles } from './styles.js';

/** The objects that the readers of all parts of a Word file share. */
export interface WordReader {
  readonly gaps: GapCounter;
  readonly styles: WordStyles;
  readonly numbering: Numbering;
  readonly notes: Notes;
  /** The fill behind the text of pages. */
  readonly page: Fill;
  readonly importAt: ReadImport;
  readonly graphicsOf: ReturnType<typeof createGraphics>;
}

export interface Surroundings {
  /** The fill behind text that has no background of its own, nor its paragraph. */
  readonly ground: Fill;
  /** True for the content of a cell, where tables are written in a line and notes wait. */
  readonly isCell: boolean;
}
