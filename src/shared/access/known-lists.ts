import type { Sharing } from './sharing-rule.js';

/** Ids that are remembered of all callers together, which take some 100 bytes each. */
const MAX_IDS = 100_000;

/** The lists of recent callers who have any. Most callers have none and take no room. */
export interface KnownLists {
  get(callerId: string): Sharing | undefined;
  put(callerId: string, sharing: Sharing): void;
}

export function createKnownLists(maxIds = MAX_IDS): KnownLists {
  /** In the order in which they were read, the oldest first. */
  const known = new Map<string, Sharing>();
  let ids = 0;
  const forget = (callerId: string) => {
    const former = known.get(callerId);
    if (!former) return;
    ids -= sizeOf(former);
    known.delete(callerId);
  };
  return {
    get: (callerId) => known.get(callerId),
    put: (callerId, sharing) => {
      forget(callerId);
      if (sharing.revision === '') return;
      known.set(callerId, sharing);
      ids += sizeOf(sharing);
      for (const oldest of known.keys()) {
        if (ids <= maxIds) break;
        forget(oldest);
      }
    },
  };
}

/** One more for the entry itself. */
const sizeOf = ({ lists: { blockedOwners, acceptedOwners, acceptedDocuments } }: Sharing): number =>
  1 + blockedOwners.length + acceptedOwners.length + acceptedDocuments.length;
