import type { Filter } from '../../filters/parse.js';
import { isOwnField } from '../../filters/paths.js';
import type { Redis } from '../../redis/client.js';
import { keys } from '../../redis/keys.js';

/** Either of them has given all documents these tags. */
const RENEWALS = [keys.filterTagsRenewed, keys.ownerTagsRenewed];

/** Tells whether the engine may be asked for the conditions of a filter on owners and ids of documents. */
export type AreOwnersTagged = (filter: Filter | null) => Promise<boolean>;

/**
 * Documents that an earlier version wrote get the tags of their owners from the sweep. Until it is done, a query for these
 * would leave out others. Only filters that ask for owners wait for the answer, and only until it is yes.
 */
export function createAreOwnersTagged(client: Pick<Redis, 'hExists'>): AreOwnersTagged {
  let areTagged = false;
  return async (filter) => {
    if (!areTagged && filter && asksForOwners(filter))
      areTagged = (await Promise.all(RENEWALS.map((key) => client.hExists(key, 'done')))).includes(1);
    return areTagged;
  };
}

function asksForOwners(filter: Filter): boolean {
  if ('filters' in filter) return filter.filters.some(asksForOwners);
  return 'filter' in filter ? asksForOwners(filter.filter) : isOwnField(filter.path);
}
