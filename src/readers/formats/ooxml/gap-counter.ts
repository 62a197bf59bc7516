import type { Gap, GapReason } from '../../receipt/receipt.js';
import type { ReadContext } from '../../parser.js';
import { createSignReader, type SignReader } from '../signs/sign-reader.js';

/** Kinds of text that readers of a file do not see, in the singular and the plural. */
const HIDDEN = {
  vanished: ['character of hidden text', 'characters of hidden text'],
  background: ['character in the colour of its background', 'characters in the colour of their background'],
  format: ['character hidden by its number format', 'characters hidden by their number format'],
  tiny: ['character smaller than 2 points', 'characters smaller than 2 points'],
  deleted: ['character of tracked deletions', 'characters of tracked deletions'],
  comment: ['comment', 'comments'],
  slide: ['hidden slide', 'hidden slides'],
  shape: ['hidden shape', 'hidden shapes'],
  outside: ['shape outside of its slide', 'shapes outside of their slides'],
  merged: ['character in a cell that another covers', 'characters in cells that others cover'],
  covered: ['shape under a picture', 'shapes under pictures'],
  sheet: ['hidden sheet', 'hidden sheets'],
  row: ['hidden row', 'hidden rows'],
  column: ['hidden column', 'hidden columns'],
} as const;

/** Kinds of content that are not read. */
const SKIPPED = {
  picture: ['picture', 'pictures'],
  object: ['embedded object', 'embedded objects'],
  import: ['imported document', 'imported documents'],
  formula: ['formula without a stored value', 'formulas without a stored value'],
  media: ['sound or film', 'sounds and films'],
  field: ['empty field of a form', 'empty fields of forms'],
  control: [
    'control of a form that only its program can read',
    'controls of forms that only their programs can read',
  ],
} as const;

/** Kinds of content that a damaged file lacks. */
const LOST = {
  text: ['cell whose text is missing in the file', 'cells whose text is missing in the file'],
} as const;

export type HiddenKind = keyof typeof HIDDEN;
type SkippedKind = keyof typeof SKIPPED;
type Nouns = readonly [singular: string, plural: string];

export interface GapCounter {
  /** Counts something hidden, and tells whether it is read all the same. */
  admits(
    kind: HiddenKind,
    options?: { readonly amount?: number; readonly location?: Gap['location'] },
  ): boolean;
  skip(kind: SkippedKind): void;
  lose(kind: keyof typeof LOST, location: Gap['location']): void;
  /** Reads text in symbol fonts, and counts the signs that it cannot read. */
  readonly signs: SignReader;
  /** Reports the counts: one gap for each kind and location. */
  finish(): void;
}

/** Counts content that is hidden or not read, so that a receipt names each kind once and not each piece of text. */
export function createGapCounter({ options, receipt }: ReadContext): GapCounter {
  const counts = new Map<
    string,
    { reason: GapReason; nouns: Nouns; location: Gap['location']; amount: number }
  >();
  const count = (reason: GapReason, nouns: Nouns, location: Gap['location'], amount: number): void => {
    const key = JSON.stringify([nouns[0], location]);
    const entry = counts.get(key) ?? { reason, nouns, location, amount: 0 };
    entry.amount += amount;
    counts.set(key, entry);
  };
  const signs = createSignReader(receipt);
  return {
    signs,
    admits(kind, { amount = 1, location = null } = {}) {
      if (options.hiddenText !== 'keep') count('hidden', HIDDEN[kind], location, amount);
      return options.hiddenText !== 'drop';
    },
    skip(kind) {
      count('skipped', SKIPPED[kind], null, 1);
    },
    lose(kind, location) {
      count('unreadable', LOST[kind], location, 1);
    },
    finish() {
      for (const { reason, nouns, location, amount } of counts.values()) {
        const noun = amount === 1 ? nouns[0] : nouns[1];
        const isRead = reason === 'hidden' && options.hiddenText === 'flag';
        const verb = `${amount === 1 ? 'was' : 'were'} ${isRead ? 'read' : 'left out'}`;
        receipt.addGap(reason, `${amount.toLocaleString('en')} ${noun} ${verb}.`, location);
      }
      counts.clear();
      signs.report();
    },
  };
}
