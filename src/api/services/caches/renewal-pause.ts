import { dropOldest } from '../../../shared/tools/drop-oldest.js';

/** Says when the lost state of a cache may be made again. */
export interface RenewalPause {
  /** @param cache the name that the cache is known by, whatever it is built of */
  mayBegin(cache: string): boolean;
}

/**
 * A state that is lost again at once, because there is no room for it or the model cannot go back within it, must not keep the
 * model busy with reading it for ever.
 */
const PAUSE_MILLISECONDS = 600_000;
const MAX_CACHES = 10_000;

export function createRenewalPause(now: () => number = () => performance.now()): RenewalPause {
  const begun = new Map<string, number>();
  return {
    mayBegin: (cache) => {
      const last = begun.get(cache);
      if (last !== undefined && now() - last < PAUSE_MILLISECONDS) return false;
      begun.delete(cache);
      begun.set(cache, now());
      dropOldest(begun, MAX_CACHES);
      return true;
    },
  };
}
