import type { Logger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import type { ObjectList, UnreferencedObjects } from '../../shared/storage/unreferenced-objects.js';

/** How many objects of each list a run takes; the next run takes the next ones. */
const MAX_OBJECTS = 1_000;
const AT_ONCE = 8;
/** A run begins no removal after this, because the sweep that runs it has other things to do. */
const MAX_MILLISECONDS = 10_000;
/** An object that cannot be removed makes way for the others. */
const POSTPONED_MILLISECONDS = 60_000;
/** So many failures, and not one success: the storage is away, and asking it for the rest would only take time. */
const HOPELESS_FAILURES = 2 * AT_ONCE;

export interface Removal {
  readonly removed: number;
  /** A record refers to them after all. */
  readonly kept: number;
  readonly failed: number;
}

export type RemoveObjects = () => Promise<Removal>;

interface Parts {
  readonly objects: UnreferencedObjects;
  readonly storage: Pick<ObjectStorage, 'remove'>;
  readonly logger: Logger;
}

/**
 * Removes source objects that nothing has referred to for as long as they are kept. Each is looked at again before: what
 * a record refers to stays. What cannot be removed is logged, comes up again later, and stops nothing else.
 */
export function createRemoveObjects(parts: Parts): RemoveObjects {
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

async function removeDue({ objects, storage, logger }: Parts, list: ObjectList): Promise<Removal> {
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
