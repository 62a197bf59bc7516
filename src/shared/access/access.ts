import type { DocumentRecord, MatchableDocument } from '../document.js';
import { ForbiddenError } from '../errors.js';
import { tag } from '../filters/index-tags.js';
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

export const hasRight = (principal: Principal, document: MatchableDocument, right: DocumentRight): boolean =>
  canRead(principal, document) && listsGive(principal, document, right);

/** Decides by the lists alone, for all that has such lists and is no document. */
export function listsGive(principal: Principal, lists: AccessLists, right: DocumentRight): boolean {
  const { writers, admins } = lists;
  switch (right) {
    case 'read':
      return mayRead(principal, lists);
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

/** The tag of a user who may read the document. */
export function readerTag(userId: string): string {
  return tag('@', '', 'user', userId);
}

/** The tag of an access group: the owner of its documents and the tags of its callers, ascending. */
export function accessGroupTag(owner: string, callers: readonly string[]): string {
  return tag('@', owner, 'audience', callers.join(''));
}

/** The tag of all access groups of an owner. */
export function ownerTag(ownerId: string): string {
  return tag('@', '', 'owner', ownerId);
}

/** The tag of all access groups. */
export const everyAccessGroupTag = tag('@', '', 'large', '');

/** Up to this many readers are named one by one in the tags of each chunk; 16 of them take 400 bytes. */
export const MAX_DIRECT = 16;

/**
 * The readers of a document when there are many. The group is stored once and named in the tags of every chunk whose
 * document has the same owner and the same readers. A query names the groups that its caller is in.
 */
export interface AccessGroup {
  /** Its name, which is also its tag. */
  readonly id: string;
  /** The tag of all access groups of the owner. */
  readonly owner: string;
  /** The owner's own tag; null when the owner may not read. Chunks name it beside the group, so that no limit concerns it. */
  readonly ownCaller: string | null;
  /** The tags of the readers, ascending. */
  readonly callers: readonly string[];
}

type Readable = AccessLists & Pick<DocumentRecord, 'ownerId'>;

/** The access group of a document's readers; null when there are few enough to name each of them. */
export function accessGroupOf(document: Readable): AccessGroup | null {
  const { readers, writers, admins } = document;
  // However often some of them are named.
  if (readers.length + writers.length + admins.length <= MAX_DIRECT) return null;
  const ids = readersOf(document);
  if (ids.size <= MAX_DIRECT) return null;
  const callers = Array.from(ids, readerTag).sort();
  const owner = ownerTag(document.ownerId);
  const ownCaller = ids.has(document.ownerId) ? readerTag(document.ownerId) : null;
  return { id: accessGroupTag(owner, callers), owner, ownCaller, callers };
}

/** Returns the access tags of a document. Each of its readers asks for one of them. */
export function accessTags(document: Readable): string[] {
  const group = accessGroupOf(document);
  if (!group) return Array.from(readersOf(document), readerTag);
  const { id, owner, ownCaller } = group;
  return [id, owner, everyAccessGroupTag, ...(ownCaller === null ? [] : [ownCaller])];
}

/** The tags that a caller's queries name: every document that the caller can read has one of them. */
export interface CallerTags {
  readonly tags: readonly string[];
  /** True if only documents that the caller may read have one of them. */
  readonly areExact: boolean;
}

/** Stands for every group in the sets of earlier versions, until the sweeper replaces it. */
const ANY = '*';

/** @param members the members of the caller's set: `owner:group`, `owner:*`, or `*` */
export function callerTags({ id: callerId }: Principal, members: readonly string[]): CallerTags {
  const direct = readerTag(callerId);
  if (members.includes(ANY)) return { tags: [direct, everyAccessGroupTag], areExact: false };
  const pairs = members.map((member) => member.split(':'));
  const owners = new Set(pairs.flatMap(([owner = '', id]) => (id === ANY ? [owner] : [])));
  const groups = pairs.flatMap(([owner = '', id = '']) => (owners.has(owner) ? [] : [id]));
  return { tags: [direct, ...owners, ...groups], areExact: owners.size === 0 };
}
