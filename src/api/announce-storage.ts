import { setTimeout as sleep } from 'node:timers/promises';
import { IncompatibleDataError } from '../shared/data-set/data-set.js';
import { UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import type { ObjectStorage } from '../shared/ports.js';
import { toUnavailable } from '../shared/redis/client.js';
import { repeat } from '../shared/repeat.js';
import {
  ANNOUNCE_EVERY_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  type StorageMarker,
} from '../shared/storage/marker.js';

interface Parts {
  readonly marker: StorageMarker;
  readonly storage: ObjectStorage;
  /** How to mend it, when we and other APIs do not have one storage. */
  readonly advice: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const AGAIN_MILLISECONDS = 500;

/**
 * Marks our storage as the one that source files are in, for workers and other APIs to see. Returns the storage, whose
 * check now also tells when a living API has another, and what ends the announcing.
 * @throws IncompatibleDataError when another API lives that keeps source files elsewhere
 */
export async function announceStorage({ marker, storage, advice, logger, signal }: Parts) {
  const step = createSteps(marker, logger);
  const message = `another API keeps source files elsewhere: ${advice}`;
  const since = performance.now();
  let isOurs = await step();
  while (isOurs === false) {
    if (performance.now() - since > PATIENCE_MILLISECONDS) throw new IncompatibleDataError(message);
    await sleep(AGAIN_MILLISECONDS, undefined, { signal });
    isOurs = await step();
  }

  const announceAgain = async () => {
    const result = await step();
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

/** Each step tells whether our storage is the one that is announced; null when that cannot be told for now. */
function createSteps(marker: StorageMarker, logger: Logger): () => Promise<boolean | null> {
  let known: string | null = null;
  let isTrouble = false;
  const step = async (): Promise<boolean> => {
    const sight = await marker.look();
    if (sight.marker !== null && sight.isSeen) {
      known = sight.marker;
      await marker.announce(known);
      return true;
    }
    // What we have seen ourselves was taken out of the storage; what nobody announces was before our time.
    const wasSeen = known !== null && sight.marker === known;
    if (sight.isAnnounced && !wasSeen) return false;
    const replaced = await marker.replace(sight.marker, { wasSeen });
    // Another came first: the next look tells where.
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
