import { IncompatibleDataError, UnavailableError } from '../shared/errors.js';
import type { Logger } from '../shared/observability/logger.js';
import { MissingObjectError, type ObjectStorage } from '../shared/ports.js';
import { followMarker, type StorageMarker } from '../shared/storage/marker.js';

type Look = Pick<StorageMarker, 'look'>;

/**
 * Wraps a storage so that a missing object only counts as lost where the API's marker is present. Otherwise this is a
 * different storage, and the object may exist in the API's.
 */
export function distinguishMissing(storage: ObjectStorage, marker: Look): ObjectStorage {
  return {
    ...storage,
    open: async (key) => {
      try {
        return await storage.open(key);
      } catch (error) {
        if (!(error instanceof MissingObjectError) || (await marker.look()) === 'here') throw error;
        throw new UnavailableError('object storage', { cause: error });
      }
    },
  };
}

interface WaitOptions {
  readonly marker: Look;
  /** The advice for an API that uses a different storage. */
  readonly advice: string;
  readonly logger: Logger;
}

/**
 * Waits until this worker finds the API's marker in its storage, and looks for it again and again from then on.
 * @param onLost is called with an IncompatibleDataError when the API has moved to a different storage
 * @returns a function that ends this
 * @throws IncompatibleDataError when the marker of a running API is not there
 */
export function waitForStorage(
  { marker, advice, logger }: WaitOptions,
  onLost: (error: IncompatibleDataError) => void,
): Promise<() => void> {
  const message = `the API keeps source files elsewhere: ${advice}`;
  return followMarker({
    look: () => marker.look(),
    mayStart: ({ place }) => place === 'here',
    onLook: ({ isLost }) => {
      if (isLost) onLost(new IncompatibleDataError(message));
    },
    message,
    logger,
  });
}
