import type { ReadContext } from '../../parser.js';
import { createGapTally, type Nouns } from '../../receipt/gap-tally.js';
import type { Gap } from '../../receipt/receipt.js';

/** The reasons why nobody sees a text, with the names of one character of it, and of several. */
const CHARACTERS = {
  /** The format says that it is not shown. */
  off: ['character of hidden text', 'characters of hidden text'],
  tiny: ['character smaller than 2 points', 'characters smaller than 2 points'],
  transparent: ['transparent character', 'transparent characters'],
  background: ['character in the colour of its background', 'characters in the colour of their background'],
  outside: ['character off the page', 'characters off the page'],
  covered: ['character under a picture', 'characters under pictures'],
  cut: ['character that its box cuts off', 'characters that their boxes cut off'],
  /** People whom a program reads the page aloud read it, so that it is always read. */
  aloud: ['character only for screen readers', 'characters only for screen readers'],
  comment: ['character of comments', 'characters of comments'],
  deleted: ['character of tracked deletions', 'characters of tracked deletions'],
  format: ['character hidden by its number format', 'characters hidden by their number format'],
  merged: ['character in a cell that another covers', 'characters in cells that others cover'],
  shapeless: ['character without a shape', 'characters without a shape'],
  column: ['character of hidden columns', 'characters of hidden columns'],
  row: ['character of hidden rows', 'characters of hidden rows'],
  sheet: ['character of hidden sheets', 'characters of hidden sheets'],
  slide: ['character of hidden slides', 'characters of hidden slides'],
} as const;

export type Unseen = keyof typeof CHARACTERS;

/** Names of parts that are left out whole, so that their characters are not counted. */
const PARTS: Readonly<Partial<Record<Unseen, Nouns>>> = {
  off: ['hidden shape', 'hidden shapes'],
  outside: ['shape outside of its slide', 'shapes outside of their slides'],
  covered: ['shape under a picture', 'shapes under pictures'],
  comment: ['comment', 'comments'],
  deleted: ['deleted shape', 'deleted shapes'],
  column: ['hidden column', 'hidden columns'],
  row: ['hidden row', 'hidden rows'],
  sheet: ['hidden sheet', 'hidden sheets'],
  slide: ['hidden slide', 'hidden slides'],
};

/** Something that nobody sees. It is one whole part where it has no text. */
interface Found {
  readonly text?: string;
  readonly location?: Gap['location'];
}

/** Counts what nobody sees, so that a receipt names each reason and place once. It never names the text itself. */
export interface HiddenCounter {
  /** True if text that nobody sees is read. */
  readonly isRead: boolean;
  /** Tells whether something that nobody sees becomes a part of the document. Counts it, unless it is read as ordinary text. */
  accepts(reason: Unseen, found?: Found): boolean;
  /** Counts text behind an element that is not closed, which is left out whatever happens to hidden text. */
  countUnclosed(element: string, text: string): void;
  report(): void;
}

export function createHiddenCounter({ options: { hiddenText }, receipt }: ReadContext): HiddenCounter {
  const tally = createGapTally(receipt);
  const isRead = hiddenText !== 'drop';
  return {
    isRead,
    accepts(reason, { text, location = null } = {}) {
      const verb = isRead || reason === 'aloud' ? 'read' : 'left out';
      const nouns = (text === undefined ? PARTS[reason] : undefined) ?? CHARACTERS[reason];
      const amount = text === undefined ? 1 : charactersOf(text);
      if (hiddenText !== 'keep') tally.add('hidden', nouns, { location, amount, verb });
      return verb === 'read';
    },
    countUnclosed(element, text) {
      const place = `behind a <${element}> that is not closed`;
      tally.add('hidden', [`character ${place}`, `characters ${place}`], { amount: charactersOf(text) });
    },
    report: tally.report,
  };
}

/** The code points of a text without white space at its ends. */
const charactersOf = (text: string): number =>
  text.trim().replace(/[\ud800-\udbff][\udc00-\udfff]/g, ' ').length;
