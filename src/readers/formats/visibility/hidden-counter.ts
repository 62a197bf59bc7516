import type { ReadContext } from '../../parser.js';
import type { Gap } from '../../receipt/receipt.js';
import type { Unseen } from './reason-unseen.js';

type Nouns = readonly [singular: string, plural: string];

/** Names for one character, and for several, that nobody sees. */
const CHARACTERS: Readonly<Record<Unseen, Nouns>> = {
  off: ['character of hidden text', 'characters of hidden text'],
  tiny: ['character smaller than 2 points', 'characters smaller than 2 points'],
  transparent: ['transparent character', 'transparent characters'],
  background: ['character in the colour of its background', 'characters in the colour of their background'],
  outside: ['character off the page', 'characters off the page'],
  covered: ['character under a picture', 'characters under pictures'],
  cut: ['character that its box cuts off', 'characters that their boxes cut off'],
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
};

/** Names for parts of a file that are left out whole, so that their characters are not counted. */
const PARTS: Readonly<Partial<Record<Unseen, Nouns>>> = {
  off: ['hidden shape', 'hidden shapes'],
  outside: ['shape outside of its slide', 'shapes outside of their slides'],
  covered: ['shape under a picture', 'shapes under pictures'],
  comment: ['comment', 'comments'],
  column: ['hidden column', 'hidden columns'],
  row: ['hidden row', 'hidden rows'],
  sheet: ['hidden sheet', 'hidden sheets'],
  slide: ['hidden slide', 'hidden slides'],
};

interface Found {
  /** The text that nobody sees; undefined for one whole part. */
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
  /** Adds a gap for each reason and place that was counted. */
  report(): void;
}

interface Count {
  readonly nouns: Nouns;
  readonly location: Gap['location'];
  readonly isRead: boolean;
  amount: number;
}

export function createHiddenCounter({ options, receipt }: ReadContext): HiddenCounter {
  const { hiddenText } = options;
  const counts = new Map<string, Count>();
  const count = (amount: number, { nouns, location, isRead }: Omit<Count, 'amount'>): void => {
    if (amount === 0) return;
    const key = location ? JSON.stringify([nouns[0], location]) : nouns[0];
    const entry = counts.get(key) ?? { nouns, location, isRead, amount: 0 };
    entry.amount += amount;
    counts.set(key, entry);
  };
  return {
    isRead: hiddenText !== 'drop',
    accepts(reason, { text, location = null } = {}) {
      const isRead = hiddenText !== 'drop' || reason === 'aloud';
      const nouns = (text === undefined ? PARTS[reason] : undefined) ?? CHARACTERS[reason];
      const amount = text === undefined ? 1 : charactersOf(text);
      if (hiddenText !== 'keep') count(amount, { nouns, location, isRead });
      return isRead;
    },
    countUnclosed(element, text) {
      const place = `behind a <${element}> that is not closed`;
      const nouns = [`character ${place}`, `characters ${place}`] as const;
      count(charactersOf(text), { nouns, location: null, isRead: false });
    },
    report() {
      for (const { nouns, location, isRead, amount } of counts.values()) {
        const [noun, verb] = amount === 1 ? [nouns[0], 'was'] : [nouns[1], 'were'];
        const detail = `${amount.toLocaleString('en')} ${noun} ${verb} ${isRead ? 'read' : 'left out'}.`;
        receipt.addGap('hidden', detail, location);
      }
      counts.clear();
    },
  };
}

/** The code points of a text without white space at its ends. */
const charactersOf = (text: string): number =>
  text.trim().replace(/[\ud800-\udbff][\udc00-\udfff]/g, ' ').length;
