import type { Box, Span } from '../../../shared/extraction/location.js';

/** Where a block stands. Numbers begin at 1. */
export interface Place {
  readonly page?: number | undefined;
  /** The rectangles of its text on the page. */
  readonly boxes?: readonly Omit<Box, 'page'>[] | undefined;
  readonly slide?: number | undefined;
  readonly sheet?: string | undefined;
  readonly row?: number | undefined;
  readonly chapter?: string | undefined;
  readonly message?: number | undefined;
  /** The number of the line on which it begins; a block of several lines ends on a later one. */
  readonly line?: number | undefined;
  /** The lines of the file that it was made of, where its text is not theirs. */
  readonly lines?: Span | undefined;
}

/** A piece of a document in reading order. All texts joined are the text of the document. */
export interface Block {
  /** The text, with the white space that separates it from the next block. */
  readonly text: string;
  readonly place?: Place | undefined;
  /** The level of a heading, from 1. Its section lasts until a heading with the same or a smaller number. */
  readonly heading?: number | undefined;
  /** For a row of a table, which is not cut; `header` holds the lines that name its columns, or nothing. */
  readonly row?: { readonly header: string } | undefined;
  /** Whether a chunk must begin here, such as at the first block of a sheet or message. It ends all sections. */
  readonly isPart?: boolean | undefined;
}
