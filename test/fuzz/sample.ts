import type { Shift } from '../../src/readers/formats/baseline/shift.js';

/** A piece of text that looks the same throughout. */
export interface Run {
  readonly text: string;
  readonly shift?: Shift;
  /** A symbol font, in which `text` is written by the codes of its signs. */
  readonly font?: string;
  readonly bold?: boolean;
  /** The text that is read of it, where that is not its text. */
  readonly written?: string;
  /** The kind of a mark that begins here. */
  readonly begins?: MarkKind;
}

export interface Cell {
  readonly runs: readonly Run[];
  /** The number of columns and rows that it reaches over; 1 by default. */
  readonly columns?: number;
  readonly rows?: number;
}

export type Part =
  | { readonly kind: 'heading'; readonly level: number; readonly runs: readonly Run[] }
  | { readonly kind: 'paragraph'; readonly runs: readonly Run[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Run[])[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly Cell[])[] };

export type MarkKind = 'raised' | 'symbol' | 'invisible';

/** Something that readers easily lose, with how docs/reference/formats.md says that it is written. */
export interface Mark {
  readonly kind: MarkKind;
  readonly written: string;
}

/** The input of a writer: the content, and choices that change how it is written and not how it is read. */
export interface SampleDocument {
  readonly title: string;
  readonly parts: readonly Part[];
  /** By the names that the writer of the format knows. */
  readonly choices: Readonly<Record<string, string | number | boolean>>;
}

/** A document with what has to be read of it. */
export interface Sample {
  readonly document: SampleDocument;
  /** In the order of reading, a line for each block or row. */
  readonly text: string;
  /** The cells of each table by rows; a cell that is merged over rows is in each of them. */
  readonly tables: readonly (readonly (readonly string[])[])[];
  readonly marks: readonly Mark[];
}
