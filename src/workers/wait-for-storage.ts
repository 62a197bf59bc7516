import { setTimeout as sleep } from 'node:timers/promises';
import { IncompatibleDataError } from '../shared/data-set/data-set.js';
import { UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../shared/ports.js';
import { toUnavailable } from '../shared/redis/client.js';
import { repeat } from '../shared/tools/repeat.js';
import {
  ANNOUNCE_EVERY_MILLISECONDS,
  PATIENCE_MILLISECONDS,
  type StorageMarker,
} from '../shared/storage/marker.js';

const AGAIN_MILLISECONDS = 200;
/** An API that starts at the same time needs less. */
const LONG_MILLISECONDS = 10_000;

/**
 * Wraps a storage so that a missing object only counts as lost where the API's marker is present. Otherwise this is a
 * different storage, and the object may exist in the API's.
 */
export function distinguishMissing(
  storage: ObjectStorage,
  marker: Pick<StorageMarker, 'look'>,
): ObjectStorage {
  return {
    ...storage,
    open: async (key) => {
      try {
        return await storage.open(key);
      } catch (error) {
        if (!(error instanceof MissingObjectError) || (await marker.look()).isSeen) throw error;
        throw new UnavailableError('object storage', { cause: error });
      }
    },
  };
}

interface Parts {
  readonly marker: Pick<StorageMarker, 'look'>;
  /** What to change when the API uses a different storage. */
  readonly advice: string;
  readonly logger: Logger;
}

export interface FoundStorage {
  /** Ends the watch. */
  close(): void;
}

/**
 * Waits until this worker finds the API's marker in its storage, and checks it again and again from then on.
 * @param onLost is called with an IncompatibleDataError when the API has moved to a different storage
 * @throws IncompatibleDataError when the marker of a running API is not there
 */
export async function waitForStorage(
  { marker, advice, logger }: Parts,
  onLost: (error: IncompatibleDataError) => void,
): Promise<FoundStorage> {
  const { look, isElsewhere } = createWatch(marker, logger);
  const incompatible = () => new IncompatibleDataError(`the API keeps source files elsewhere: ${advice}`);
  const since = performance.now();
  for (let told = false; !(await look());) {
    if (isElsewhere()) throw incompatible();
    if (!told && performance.now() - since > LONG_MILLISECONDS) {
      logger.info('waiting for the API to announce its object storage');
      told = true;
    }
    await sleep(told ? 10 * AGAIN_MILLISECONDS : AGAIN_MILLISECONDS);
  }
  const lookAgain = async () => {
    await look();
    if (isElsewhere()) onLost(incompatible());
  };
  const close = repeat(lookAgain, {
    everyMilliseconds: ANNOUNCE_EVERY_MILLISECONDS,
    onError: (error) => {
      logger.error({ err: error }, 'looking for the object storage failed');
    },
  });
  return { close };
}

function createWatch(marker: Pick<StorageMarker, 'look'>, logger: Logger) {
  let unseenSince: number | null = null;
  let isTrouble = false;
  return {
    /** Resolves with whether the marker is there. */
    look: async (): Promise<boolean> => {
      try {
        const { isSeen, isAnnounced } = await marker.look();
        // Without a running API there is no marker to compare with.
        unseenSince = isSeen || !isAnnounced ? null : (unseenSince ?? performance.now());
        isTrouble = false;
        return isSeen;
      } catch (thrown) {
        const error = toUnavailable(thrown);
        if (!(error instanceof UnavailableError)) throw error;
        if (!isTrouble) logger.warn({ err: error }, 'object storage cannot be looked at');
        isTrouble = true;
        unseenSince = null;
        return false;
      }
    },
    /** Tells whether the marker of a running API has been missing for so long that it will not appear any more. */
    isElsewhere: () => unseenSince !== null && performance.now() - unseenSince > PATIENCE_MILLISECONDS,
  };
}
