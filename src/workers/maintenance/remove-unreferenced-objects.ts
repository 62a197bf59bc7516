import type { Logger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import type { ObjectList, ObjectLists } from './object-lists.js';

/** The maximum number of objects of each list in one run; the next run continues. */
const MAX_OBJECTS = 1_000;
const AT_ONCE = 8;
/** After this time a run begins no more removals, because the sweep has other tasks. */
const MAX_MILLISECONDS = 10_000;
/** An object that cannot be removed is tried again after this time, so that it does not hold up the others. */
const POSTPONED_MILLISECONDS = 60_000;
/** After this many failures without a success the storage is considered unavailable, and the run ends. */
const HOPELESS_FAILURES = 2 * AT_ONCE;

export interface Removal {
  readonly removed: number;
  /** Objects that a record still refers to. */
  readonly kept: number;
  readonly failed: number;
}

export type RemoveObjects = () => Promise<Removal>;

interface RemovalOptions {
  readonly objects: ObjectLists;
  readonly storage: Pick<ObjectStorage, 'remove'>;
  readonly logger: Logger;
}

/**
 * Removes source objects that have not been referenced for longer than they are kept. Each is checked again before, so that
 * an object that a record refers to stays. A failure is logged, and the object is tried again later.
 */
export function createRemoveUnreferencedObjects(parts: RemovalOptions): RemoveObjects {
  const { objects } = parts;
  return async () => {
    await objects.adoptOld(MAX_OBJECTS);
    const unreferenced = await removeDue(parts, 'unreferenced');
    const drafts = await removeDue(parts, 'drafts');
    return {
      removed: unreferenced.removed + drafts.removed,
      kept: unreferenced.kept + drafts.kept,
      failed: unreferenced.failed + drafts.failed,
    };
  };
}

async function removeDue({ objects, storage, logger }: RemovalOptions, list: ObjectList): Promise<Removal> {
  const end = performance.now() + MAX_MILLISECONDS;
  const due = await objects.due(list, MAX_OBJECTS);
  const counts = { removed: 0, kept: 0, failed: 0 };
  const removeOne = async (key: string) => {
    try {
      const isReferred = await objects.isReferred(key);
      if (!isReferred) await storage.remove(key);
      await objects.forget(list, key);
      counts[isReferred ? 'kept' : 'removed'] += 1;
    } catch (error) {
      counts.failed += 1;
      logger.warn({ err: error, storageKey: key }, 'a source could not be removed yet');
      await objects.postpone(list, key, POSTPONED_MILLISECONDS);
    }
  };
  const isHopeless = () => counts.removed === 0 && counts.failed >= HOPELESS_FAILURES;
  for (let at = 0; at < due.length && performance.now() < end && !isHopeless(); at += AT_ONCE) {
    await Promise.all(due.slice(at, at + AT_ONCE).map(removeOne));
  }
  return counts;
}
