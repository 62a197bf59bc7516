import { UnavailableError } from '../../shared/errors.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { ObjectStorage } from '../../shared/ports.js';
import { followMarker, type MarkerSight, type StorageMarker } from '../../shared/storage/marker.js';

interface AnnounceOptions {
  readonly marker: StorageMarker;
  readonly storage: ObjectStorage;
  /** The advice when this API and another do not use the same storage. */
  readonly advice: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Marks our storage as the one that holds the source files, so that workers and other APIs can check theirs. Returns the
 * storage, whose `check` now also fails when another running API uses a different one, and `close`, which ends the
 * announcements.
 * @throws IncompatibleDataError when another running API keeps its source files elsewhere
 */
export async function announceStorage({ marker, storage, advice, logger, signal }: AnnounceOptions) {
  const message = `another API keeps source files elsewhere: ${advice}`;
  let isElsewhere = false;
  const onLook = ({ place }: MarkerSight) => {
    if (place === null) return;
    if (place === 'elsewhere' && !isElsewhere) logger.error(message);
    isElsewhere = place === 'elsewhere';
  };
  const mayStart = ({ place }: MarkerSight) => place !== 'elsewhere';
  const close = await followMarker({ look: () => marker.claim(), mayStart, onLook, message, logger, signal });
  const check = async () => {
    if (isElsewhere) throw new UnavailableError('object storage');
    await storage.check();
  };
  return { storage: { ...storage, check }, close };
}
