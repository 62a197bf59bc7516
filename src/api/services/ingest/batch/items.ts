import type { DocumentState, Failure } from '../../../../shared/document.js';
import type { OnDuplicate } from '../duplicates.js';
import type { NewDocument } from '../store-records.js';

/*
 * The states of an item of a batch, one after the other: an `OpenItem` until it is known that it is to be stored, a
 * `NewItem` until its record is written, a `StoredItem` while its document is waited for, and then an `ItemOutcome`.
 */

/** A text, or a file whose bytes are stored, and the treatment of content that exists already. */
export interface OpenItem {
  readonly index: number;
  readonly onDuplicate: OnDuplicate;
  readonly sourceId?: string | undefined;
  /** The digest of its content. */
  readonly sha256: () => string;
}

/** A new document whose record is to be written, for the item at `index`. */
export interface NewItem extends NewDocument {
  readonly index: number;
}

/** An item that was stored, or was not. It references nothing of the request. */
export type StoredItem = { readonly index: number } & (
  | {
      readonly documentId: string;
      readonly status: DocumentState['status'];
      /** True if it was there before, so that nothing was made of the item. */
      readonly wasThere?: boolean;
      readonly error?: never;
    }
  | { readonly error: unknown; readonly documentId?: never; readonly status?: never }
);

/** The outcome of one item: a document with its status, or an error that kept it from becoming one. */
export type ItemOutcome = { readonly index: number } & (
  | {
      readonly type: 'document';
      readonly documentId: string;
      readonly status: DocumentState['status'];
      /** The reason why the ingest failed. */
      readonly failure: Failure | null;
    }
  | { readonly type: 'refused'; readonly error: unknown }
);

/** Tells whether nothing is left to be done for an item. */
export const isDone = (outcome: ItemOutcome): boolean =>
  outcome.type === 'refused' || (outcome.status !== 'queued' && outcome.status !== 'processing');
