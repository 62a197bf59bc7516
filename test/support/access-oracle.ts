import type { DocumentRight } from '../../src/shared/access/access.js';
import type { Shared, SharingLists } from '../../src/shared/access/sharing.js';

/** Rights once more, slow and plain: what every index and every path is held against. */

export interface OpenTo {
  readonly readers: readonly string[];
  readonly writers: readonly string[];
  readonly admins: readonly string[];
}

/** Tells whether somebody may read. */
export const isNamed = (id: string, { readers, writers, admins }: OpenTo): boolean =>
  [readers, writers, admins].flat().includes(id);

export function isAllowed(id: string, right: DocumentRight, { readers, writers, admins }: OpenTo): boolean {
  const lists = { read: [readers, writers, admins], write: [writers, admins], 'change access': [admins] };
  return lists[right].flat().includes(id);
}

/** Tells whether somebody wants to see a document that they may read. */
export function isWanted(
  id: string,
  { ownerId, documentId }: { readonly ownerId: string; readonly documentId: string },
  { shared, lists }: { readonly shared: Shared; readonly lists: SharingLists },
): boolean {
  if (ownerId === id) return true;
  if (shared === 'own' || lists.blockedOwners.includes(ownerId)) return false;
  const isAccepted = lists.acceptedOwners.includes(ownerId) || lists.acceptedDocuments.includes(documentId);
  return shared === 'all' || isAccepted;
}
