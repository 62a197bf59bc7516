import type { DocumentRecord } from '../document.js';
import type { UsageEvent } from '../usage/usage.js';

/** What the hash of a generation holds in a field. */
export interface ExpectedField {
  readonly generation: string;
  readonly field: string;
  readonly value: string;
}

/** What a change of a record brings with it; all of it happens in the same script, or nothing does. */
export interface Effects {
  /** Generation whose chunks may be written from now on; hidden until it is published. */
  readonly open?: string;
  readonly unhide?: string;
  /** What must be done by now: Redis may have come back without the last of it. */
  readonly expected?: readonly ExpectedField[];
  /** Generations that nothing refers to any more: hidden, then unlinked in batches. */
  readonly discard?: readonly string[];
  /** Source objects that nothing refers to any more. */
  readonly discardObjects?: readonly string[];
  readonly usage?: readonly UsageEvent[];
  /** It takes something away, so that it has to go on when Redis is full. A removal always does. */
  readonly evenWhenFull?: boolean;
}

export type Change = (
  | { readonly record: DocumentRecord; readonly removed?: false }
  | { readonly removed: true; readonly record?: never }
) &
  Effects;

/** From the record as it stands to what it becomes; null leaves it alone (a stale run, nothing to do). */
export type Transition = (record: DocumentRecord) => Change | null;
