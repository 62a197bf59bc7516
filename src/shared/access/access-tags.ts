import { token } from '../filters/token.js';

/** The tag of a user who may read the document. */
export function readerTag(userId: string): string {
  return token('@', '', 'user', userId);
}

/** The tag of an access group: the owner of its documents and the tags of its callers, ascending. */
export function accessGroupTag(owner: string, callers: readonly string[]): string {
  return token('@', owner, 'audience', callers.join(''));
}

/** The tag of all access groups of an owner. */
export function ownerTag(ownerId: string): string {
  return token('@', '', 'owner', ownerId);
}

/** The tag of all access groups. */
export const everyAccessGroupTag = token('@', '', 'large', '');
