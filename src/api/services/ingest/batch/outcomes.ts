import type { DocumentState, Failure } from '../../../../shared/document.js';
import type { NewRecord } from '../../../../shared/documents/change.js';
import type { OnDuplicate } from '../duplicates.js';

/** What became of one item: a document with its status, or an error that kept it from becoming one. */
export type ItemOutcome = { readonly index: number } & (
  | {
      readonly type: 'document';
      readonly documentId: string;
      readonly status: DocumentState['status'];
      /** Why the ingest failed. */
      readonly failure: Failure | null;
    }
  | { readonly type: 'refused'; readonly error: unknown }
);

/** An item that was stored, or was not. It references nothing of the request. */
export type StoredItem = { readonly index: number } & (
  | { readonly documentId: string; readonly status: DocumentState['status']; readonly error?: never }
  | { readonly error: unknown; readonly documentId?: never; readonly status?: never }
);

/** A record that is to be written, for the item at `index`. */
export interface NewDocument extends NewRecord {
  readonly index: number;
  readonly onDuplicate: OnDuplicate;
}

/** A text, or a file that is stored, and what becomes of it if its content is there already. */
export interface Candidate {
  readonly index: number;
  readonly onDuplicate: OnDuplicate;
  /** The digest of its content. */
  readonly sha256: () => string;
}

/** Whether nothing is left to be done for an item. */
export const isDone = (outcome: ItemOutcome): boolean =>
  outcome.type === 'refused' || (outcome.status !== 'queued' && outcome.status !== 'processing');
