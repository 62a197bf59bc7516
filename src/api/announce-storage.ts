import { setTimeout as sleep } from 'node:timers/promises';
import { IncompatibleDataError } from '../shared/data-set/data-set.js';
import { UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import type { ObjectStorage } from '../shared/ports.js';
import { toUnavailable } from '../shared/redis/client.js';
import { repeat } from '../shared/tools/repeat.js';
import {
  ANNOUNCE_EVERY_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  type StorageMarker,
} from '../shared/storage/marker.js';

interface Parts {
  readonly marker: StorageMarker;
  readonly storage: ObjectStorage;
  /** What to change when this API and another do not use the same storage. */
  readonly advice: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const AGAIN_MILLISECONDS = 500;

/**
 * Marks our storage as the one that holds the source files, so that workers and other APIs can check theirs. Returns the
 * storage, whose `check` now also fails when another running API uses a different one, and `close`, which ends the
 * announcements.
 * @throws IncompatibleDataError when another running API keeps its source files elsewhere
 */
export async function announceStorage({ marker, storage, advice, logger, signal }: Parts) {
  const announceOnce = createAnnouncement(marker, logger);
  const message = `another API keeps source files elsewhere: ${advice}`;
  const since = performance.now();
  let isOurs = await announceOnce();
  while (isOurs === false) {
    if (performance.now() - since > PATIENCE_MILLISECONDS) throw new IncompatibleDataError(message);
    await sleep(AGAIN_MILLISECONDS, undefined, { signal });
    isOurs = await announceOnce();
  }

  const announceAgain = async () => {
    const result = await announceOnce();
    if (result === false && isOurs !== false) logger.error(message);
    isOurs = result ?? isOurs;
  };
  const close = repeat(announceAgain, {
    everyMilliseconds: ANNOUNCE_EVERY_MILLISECONDS,
    onError: (error) => {
      logger.error({ err: error }, 'announcing the object storage failed');
    },
  });
  const check = async () => {
    if (isOurs === false) throw new UnavailableError('object storage');
    await storage.check();
  };
  return { storage: { ...storage, check }, close };
}

/** The returned function announces our storage and resolves with whether it is the announced one; null if that is unknown now. */
function createAnnouncement(marker: StorageMarker, logger: Logger): () => Promise<boolean | null> {
  let known: string | null = null;
  let isTrouble = false;
  const step = async (): Promise<boolean> => {
    const sight = await marker.look();
    if (sight.marker !== null && sight.isSeen) {
      known = sight.marker;
      await marker.announce(known);
      return true;
    }
    // A marker that we have seen was removed from the storage since; one that nobody announces is from an earlier run.
    const wasSeen = known !== null && sight.marker === known;
    if (sight.isAnnounced && !wasSeen) return false;
    const replaced = await marker.replace(sight.marker, { wasSeen });
    // Another API was faster; the next look shows whether it uses the same storage.
    if (replaced === null) return step();
    known = replaced;
    return true;
  };
  return async () => {
    try {
      const isOurs = await step();
      isTrouble = false;
      return isOurs;
    } catch (thrown) {
      const error = toUnavailable(thrown);
      if (!(error instanceof UnavailableError)) throw error;
      if (!isTrouble) logger.warn({ err: error }, 'object storage cannot be announced');
      isTrouble = true;
      return null;
    }
  };
}
