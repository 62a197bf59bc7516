import { createGapTally } from '../../receipt/gap-tally.js';
import type { Gap } from '../../receipt/receipt.js';
import type { ReadContext } from '../../parser.js';
import { createSignReader, type SignReader } from '../signs/sign-reader.js';
import { createHiddenCounter, type HiddenCounter } from '../visibility/hidden-counter.js';

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

type SkippedKind = keyof typeof SKIPPED;

export interface GapCounter {
  readonly hidden: HiddenCounter;
  skip(kind: SkippedKind): void;
  lose(kind: keyof typeof LOST, location: Gap['location']): void;
  /** Reads text in symbol fonts, and counts the signs that it cannot read. */
  readonly signs: SignReader;
  /** Reports the counts: one gap for each kind and location. */
  finish(): void;
}

/** Counts content that is hidden or not read, so that a receipt names each kind once and not each piece of text. */
export function createGapCounter(context: ReadContext): GapCounter {
  const { receipt } = context;
  const tally = createGapTally(receipt);
  const hidden = createHiddenCounter(context);
  const signs = createSignReader(receipt);
  return {
    hidden,
    signs,
    skip(kind) {
      tally.add('skipped', SKIPPED[kind]);
    },
    lose(kind, location) {
      tally.add('unreadable', LOST[kind], { location });
    },
    finish() {
      tally.report();
      hidden.report();
      signs.report();
    },
  };
}
