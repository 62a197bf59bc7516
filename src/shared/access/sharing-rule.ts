import type { Filter } from '../filters/parse.js';
import { ID_PATH, OWNER_PATH } from '../filters/paths.js';

/** The documents of others that are found: all that name the caller, those that the caller has accepted, or none. */
export const SHARED = ['all', 'accepted', 'own'] as const;
export type Shared = (typeof SHARED)[number];

/** The lists in which a caller accepts or blocks documents that others share. An owner is in one of the lists at most. */
export interface SharingLists {
  /** Nothing of theirs is found, whatever else is said. */
  readonly blockedOwners: readonly string[];
  /** Everything of theirs is accepted. */
  readonly acceptedOwners: readonly string[];
  readonly acceptedDocuments: readonly string[];
}

/** The lists of a caller, and the name of this state of them; an empty one where there are none. */
export interface Sharing {
  readonly lists: SharingLists;
  readonly revision: string;
}

export const NO_LISTS: SharingLists = { blockedOwners: [], acceptedOwners: [], acceptedDocuments: [] };

/** The most entries of each list: a query names each of them, and an engine reads some 50,000 a second. */
export const MAX_SHARING_ENTRIES = 1_000;

/**
 * Makes the filter of the documents that a caller finds among all that they may read; null for all of them. It names fields
 * that metadata cannot hide, and is a filter so that everything that heeds filters heeds it: masks, queries of engines, and
 * the check of each hit.
 */
export function sharingRule(callerId: string, shared: Shared, lists: SharingLists): Filter | null {
  if (shared === 'own') return ownedBy([callerId]);
  const isBlocked = lists.blockedOwners.length > 0 ? ownedBy(lists.blockedOwners) : null;
  const isOpen: Filter | null = isBlocked && { type: 'not', filter: isBlocked };
  return shared === 'all' ? isOpen : both(acceptedBy(callerId, lists), isOpen);
}

function acceptedBy(callerId: string, { acceptedOwners, acceptedDocuments }: SharingLists): Filter {
  const byOwner = ownedBy([callerId, ...acceptedOwners]);
  if (acceptedDocuments.length === 0) return byOwner;
  const byId: Filter = { type: 'equals', path: ID_PATH, values: acceptedDocuments };
  return { type: 'or', filters: [byOwner, byId] };
}

const ownedBy = (owners: readonly string[]): Filter => ({ type: 'equals', path: OWNER_PATH, values: owners });

/** Makes the filter that passes documents which pass both filters; null lets everything pass. */
export function both(one: Filter | null, other: Filter | null): Filter | null {
  return one && other ? { type: 'and', filters: [one, other] } : (one ?? other);
}
