import type { Location, Rectangle } from './location.js';

/** The spans of a location whose numbers blocks say one by one. */
interface NumberOf {
  pages: 'page';
  slides: 'slide';
  rows: 'row';
}

type Numbers = { readonly [Name in keyof NumberOf as NumberOf[Name]]?: number | undefined };
/** All else that a location tells, which a block tells in the same words; a new field of locations is one of places, too. */
type SameAsLocation = {
  readonly [Name in Exclude<keyof Location, keyof NumberOf | 'boxes'>]?: Location[Name];
};

/**
 * The place of a block. Numbers begin at 1. `lines` are the lines that the block was made of, where its text differs from
 * them.
 */
export interface Place extends Numbers, SameAsLocation {
  /** The rectangles of its text on the page. */
  readonly boxes?: readonly Rectangle[] | undefined;
  /** The number of the line on which it begins; a block of several lines ends on a later one. */
  readonly line?: number | undefined;
}

/** A line of a block's text: the place where it begins in the text, in UTF-16 units, and its rectangle on the page. */
export interface LineBox {
  readonly start: number;
  readonly box: Rectangle;
}

/** A piece of a document in reading order. All texts joined are the text of the document. */
export interface Block {
  /** The text, with the white space that separates it from the next block. */
  readonly text: string;
  readonly place?: Place | undefined;
  /** The lines of a paragraph of a page, where there are several. */
  readonly lines?: readonly LineBox[] | undefined;
  /** The level of a heading, from 1. Its section lasts until a heading with the same or a smaller number. */
  readonly heading?: number | undefined;
  /** For a row of a table, which is not cut; `header` holds the lines that name its columns, or nothing. */
  readonly row?: { readonly header: string } | undefined;
  /** True if a chunk must begin here, such as at the first block of a sheet or message. Such a block ends all sections. */
  readonly isPart?: boolean | undefined;
}
