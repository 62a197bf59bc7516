import type { DocumentRecord } from '../document.js';
import type { Reservation } from '../idempotency/reservation.js';
import type { ShortSource } from '../storage/sources.js';
import type { UsageEvent } from '../usage/usage.js';

/** A field that the hash of a generation must hold. */
export interface ExpectedField {
  readonly generation: string;
  readonly field: string;
  readonly value: string;
}

/** The effects that happen together with a change of a record, in the same script or not at all. */
export interface Effects {
  /** A generation whose chunks may be written from now on. It is hidden until it is published. */
  readonly open?: string;
  readonly unhide?: string;
  /** The fields that must be there by now. They may be missing after Redis came back without its last writes. */
  readonly expected?: readonly ExpectedField[];
  /** Generations that nothing refers to any more. They are hidden at once and unlinked in batches. */
  readonly discard?: readonly string[];
  /** The source of the pending content, if it is short: the record holds it until it is among `discardObjects`. */
  readonly source?: ShortSource | undefined;
  /** The group of new documents whose job ingests this one. The record notes it, so that the sweep finds that job. */
  readonly group?: string | undefined;
  /** Sources that nothing refers to any more. */
  readonly discardObjects?: readonly string[];
  readonly usage?: readonly UsageEvent[];
  /** Another document that must still be as it was read. */
  readonly beside?: DocumentRecord | undefined;
  /** Refuses the change when its owner has a document of the same content already. */
  readonly onlyNewContent?: boolean;
  /**
   * The `Idempotency-Key` that the change is made for. It is refused when another run has taken that over. Only a new record
   * counts as created under the key: any other change for it can be made again.
   */
  readonly reservation?: Reservation | undefined;
  /**
   * The digest that a new record's line of a stream with a key is compared by when it is sent again. It stays in the
   * record's hash.
   */
  readonly lineDigest?: string | undefined;
  /** True if the change has to be possible when Redis is full, because it takes something away. A removal always has to be. */
  readonly evenWhenFull?: boolean;
}

export type Change = (
  | { readonly record: DocumentRecord; readonly removed?: false }
  | { readonly removed: true; readonly record?: never }
) &
  Effects;

/** Returns the owner whom a change takes a document from; null where it stays with its owner. */
export function formerOwner(before: DocumentRecord | null, { record }: Change): string | null {
  return before && record && before.ownerId !== record.ownerId ? before.ownerId : null;
}

/** Computes the change of a record; null leaves the record alone, because the run is stale or nothing is to be done. */
export type Transition = (record: DocumentRecord) => Change | null;

/** A record that is to be written, with the bytes of its content if that is a short text, and the group that it is in. */
export interface NewRecord extends Pick<
  Effects,
  'source' | 'group' | 'onlyNewContent' | 'reservation' | 'lineDigest'
> {
  readonly record: DocumentRecord;
}

/** Called with each change of a record that was written; `before` is null for a new record, `after` for one that is gone. */
export type OnChange = (before: DocumentRecord | null, after: DocumentRecord | null) => void;
