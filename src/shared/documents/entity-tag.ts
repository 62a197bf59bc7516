import { hash } from 'node:crypto';
import { shownContent, type DocumentRecord } from '../document.js';

/** States of a document in which alone it may be changed, as `If-Match` names them. */
export type Precondition =
  /** Any state of a document that is there. */
  | { readonly type: 'any' }
  /** Versions of its content, or states by their entity tags. */
  | { readonly type: 'tags'; readonly tags: readonly string[] };

/**
 * Names the state of the parts of a document that callers can change: content, metadata, name and access. It begins with
 * the version. The progress of an ingest is not a part of it: nobody's change would be lost by that.
 */
export function entityTag(record: DocumentRecord): string {
  const { version, metadata, readers, writers, admins } = record;
  const state = [version, metadata, shownContent(record).filename, readers, writers, admins];
  return `${String(version)}-${hash('sha256', JSON.stringify(state), 'hex').slice(0, 16)}`;
}

/** Tells whether a document is in one of the states; a version alone stands for all states with that content. */
export const fulfils = (record: DocumentRecord, precondition: Precondition): boolean =>
  precondition.type === 'any' ||
  precondition.tags.includes(String(record.version)) ||
  precondition.tags.includes(entityTag(record));
