import type { DocumentRecord } from '../document.js';
import { accessToken, accessGroupToken, everyAccessGroupToken, ownerToken } from '../filters/tags.js';
import type { AccessLists } from './access.js';

/** So many readers are named one by one in the tags of each chunk; 16 take 400 bytes. */
const MAX_DIRECT = 16;

/**
 * The readers of a document, of whom there are many: stored once, and named in the tags of all chunks with the same ones
 * of the same owner. A caller asks for the names of the access groups that they are in.
 */
export interface AccessGroup {
  /** Its name, which is the tag, too. */
  readonly id: string;
  /** The tag of its owner's access groups. */
  readonly owner: string;
  /** The token of its owner, who is named beside it, however many lists they make: null where they are no reader. */
  readonly ownCaller: string | null;
  /** The tokens of the readers, in order. */
  readonly callers: readonly string[];
}

type Readable = AccessLists & Pick<DocumentRecord, 'ownerId'>;

/** Null where the readers are few enough to be named each. */
export function accessGroupOf(document: Readable): AccessGroup | null {
  const ids = readersOf(document);
  if (ids.size <= MAX_DIRECT) return null;
  const callers = Array.from(ids, accessToken).sort();
  const owner = ownerToken(document.ownerId);
  const ownCaller = ids.has(document.ownerId) ? accessToken(document.ownerId) : null;
  return { id: accessGroupToken(owner, callers), owner, ownCaller, callers };
}

/** The tags by which a document's readers find it. */
export function accessTags(document: Readable): string[] {
  const group = accessGroupOf(document);
  if (!group) return Array.from(readersOf(document), accessToken);
  const { id, owner, ownCaller } = group;
  return [id, owner, everyAccessGroupToken, ...(ownCaller === null ? [] : [ownCaller])];
}

function readersOf({ readers, writers, admins }: AccessLists): ReadonlySet<string> {
  return new Set([...readers, ...writers, ...admins]);
}

/** What a caller asks for: every document that they may read has one of these tags. */
export interface CallerTags {
  readonly tags: readonly string[];
  /** Whether no other document has one. */
  readonly areExact: boolean;
}

/** In a caller's set, of earlier versions, until the sweeper replaced it: every access group of the owner may name them. */
const ANY = '*';

/** @param members of the caller's set: `owner:access group`, `owner:*`, or `*` */
export function callerTags(callerId: string, members: readonly string[]): CallerTags {
  const direct = accessToken(callerId);
  if (members.includes(ANY)) return { tags: [direct, everyAccessGroupToken], areExact: false };
  const pairs = members.map((member) => member.split(':'));
  const owners = new Set(pairs.flatMap(([owner = '', id]) => (id === ANY ? [owner] : [])));
  const groups = pairs.flatMap(([owner = '', id = '']) => (owners.has(owner) ? [] : [id]));
  return { tags: [direct, ...owners, ...groups], areExact: owners.size === 0 };
}
