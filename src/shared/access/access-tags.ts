import { tag } from '../filters/tag.js';

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
