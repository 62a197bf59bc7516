import type { DocumentRecord } from '../document.js';
import { accessToken, audienceToken, largeAudienceToken, ownerToken } from '../filters/tags.js';
import type { AccessLists } from './access.js';

/** So many readers are named one by one in the tags of each chunk; 16 take 400 bytes. */
const MAX_DIRECT = 16;

/**
 * The readers of a document, of whom there are many: stored once, and named in the tags of all chunks with the same ones
 * of the same owner. A caller asks for the names of the audiences that they are in.
 */
export interface Audience {
  /** Its name, which is the tag, too. */
  readonly id: string;
  /** The tag of its owner's large audiences. */
  readonly owner: string;
  /** The token of its owner, who is named beside it, however many lists they make: null where they are no reader. */
  readonly ownCaller: string | null;
  /** The tokens of the readers, in order. */
  readonly callers: readonly string[];
}

type Readable = AccessLists & Pick<DocumentRecord, 'ownerId'>;

/** Null where the readers are few enough to be named each. */
export function audienceOf(document: Readable): Audience | null {
  const ids = readersOf(document);
  if (ids.size <= MAX_DIRECT) return null;
  const callers = Array.from(ids, accessToken).sort();
  const owner = ownerToken(document.ownerId);
  const ownCaller = ids.has(document.ownerId) ? accessToken(document.ownerId) : null;
  return { id: audienceToken(owner, callers), owner, ownCaller, callers };
}

/** The tags by which a document's readers find it. */
export function accessTags(document: Readable): string[] {
  const audience = audienceOf(document);
  if (!audience) return Array.from(readersOf(document), accessToken);
  const { id, owner, ownCaller } = audience;
  return [id, owner, largeAudienceToken, ...(ownCaller === null ? [] : [ownCaller])];
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

/** In a caller's set, of earlier versions, until the sweeper replaced it: every large audience of the owner may name them. */
const ANY = '*';

/** @param members of the caller's set: `owner:audience`, `owner:*`, or `*` */
export function callerTags(callerId: string, members: readonly string[]): CallerTags {
  const direct = accessToken(callerId);
  if (members.includes(ANY)) return { tags: [direct, largeAudienceToken], areExact: false };
  const pairs = members.map((member) => member.split(':'));
  const owners = new Set(pairs.flatMap(([owner = '', id]) => (id === ANY ? [owner] : [])));
  const audiences = pairs.flatMap(([owner = '', id = '']) => (owners.has(owner) ? [] : [id]));
  return { tags: [direct, ...owners, ...audiences], areExact: owners.size === 0 };
}
