import type { DocumentRecord, MatchableDocument } from '../document.js';
import { ForbiddenError } from '../errors.js';
import { matchesFilter } from '../filters/match.js';
import type { Filter } from '../filters/parse.js';

/**
 * Who asks: all that decides which documents somebody may read and change. It is made of the caller of a request, and of an
 * id where only that is known.
 */
export interface Principal {
  readonly id: string;
}

export const principalOf = (id: string): Principal => ({ id });

export type AccessLists = Pick<DocumentRecord, 'readers' | 'writers' | 'admins'>;

/** The access that documents get which are made of a document's attachments. Who has left that has left these, too. */
export function accessOfAttachments(record: DocumentRecord): AccessLists & Pick<DocumentRecord, 'left'> {
  const { accessChange, left } = record;
  const gone = left ? { left } : {};
  if (!accessChange)
    return { readers: record.readers, writers: record.writers, admins: record.admins, ...gone };
  // Only who has access before and after the change, since it may have been interrupted.
  const both = (name: keyof AccessLists) => accessChange[name].filter((id) => record[name].includes(id));
  return { readers: both('readers'), writers: both('writers'), admins: both('admins'), ...gone };
}

/** Tells whether the lists of a document name somebody. */
export function isReader(id: string, { readers, writers, admins }: AccessLists): boolean {
  return readers.includes(id) || writers.includes(id) || admins.includes(id);
}

/** Everybody for whom `isReader` is true, each once. Tags and the partitions of an index are made of them. */
export function readersOf({ readers, writers, admins }: AccessLists): ReadonlySet<string> {
  return new Set([...readers, ...writers, ...admins]);
}

/** Decides by the lists alone, for indexes, whose answers are supersets: false for nobody who can read. */
export const mayRead = ({ id }: Principal, lists: AccessLists): boolean => isReader(id, lists);

/** Decides by the whole document. */
export const canRead = (principal: Principal, document: MatchableDocument): boolean =>
  mayRead(principal, document);

/** Decides on each hit, list entry and passage, by its record as it is now. */
export const canFind = (principal: Principal, document: MatchableDocument, filter: Filter | null): boolean =>
  canRead(principal, document) && (filter === null || matchesFilter(document, filter));

/** The right that is needed to a document. Who has one has those before it, too. */
export type DocumentRight = 'read' | 'write' | 'change access';

export function hasRight(principal: Principal, document: MatchableDocument, right: DocumentRight): boolean {
  if (!canRead(principal, document)) return false;
  const { writers, admins } = document;
  switch (right) {
    case 'read':
      return true;
    case 'write':
      return writers.includes(principal.id) || admins.includes(principal.id);
    case 'change access':
      return admins.includes(principal.id);
  }
}

/** @throws ForbiddenError */
export function requireRight(principal: Principal, document: MatchableDocument, right: DocumentRight): void {
  if (!hasRight(principal, document, right)) throw new ForbiddenError('Insufficient permissions');
}
