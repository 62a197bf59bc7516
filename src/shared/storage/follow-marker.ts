import { setTimeout as sleep } from 'node:timers/promises';
import { IncompatibleDataError } from '../data-set/data-set.js';
import { UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { toUnavailable } from '../redis/client.js';
import { repeat } from '../tools/repeat.js';
import type { MarkerPlace } from './marker.js';

const LOOK_EVERY_MILLISECONDS = 5_000;
const AGAIN_MILLISECONDS = 500;
/** A process that starts at the same time needs less. */
const LONG_MILLISECONDS = 10_000;
/**
 * The time for which the marker of a running API may be elsewhere. It is longer than an announcement lasts: an API that
 * died before its storage was emptied or moved must not keep others from starting.
 */
const PATIENCE_MILLISECONDS = 20_000;

export interface MarkerSight {
  /** Null while Redis or the storage is unavailable. */
  readonly place: MarkerPlace | null;
  /** True if it has been elsewhere for so long that it will not come here any more. */
  readonly isLost: boolean;
}

interface FollowOptions {
  readonly look: () => Promise<MarkerPlace>;
  /** Tells whether the process may start where it sees the marker so. */
  readonly mayStart: (sight: MarkerSight) => boolean;
  /** Called with each later look. */
  readonly onLook: (sight: MarkerSight) => void;
  /** Says that an API keeps source files elsewhere, and how to mend that. */
  readonly message: string;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
}

/**
 * Waits until the process may start, and looks for the marker again and again from then on.
 * @returns a function that ends this
 * @throws IncompatibleDataError when the marker of a running API is elsewhere
 */
export async function followMarker(options: FollowOptions): Promise<() => void> {
  const { mayStart, onLook, message, logger, signal } = options;
  const look = createPatientLook(options);
  const since = performance.now();
  let hasTold = false;
  for (let sight = await look(); !mayStart(sight); sight = await look()) {
    if (sight.isLost) throw new IncompatibleDataError(message);
    if (!hasTold && performance.now() - since > LONG_MILLISECONDS) {
      logger.info('waiting for the marker of the object storage');
      hasTold = true;
    }
    await sleep(AGAIN_MILLISECONDS, undefined, signal ? { signal } : {});
  }
  return repeat(async () => onLook(await look()), {
    everyMilliseconds: LOOK_EVERY_MILLISECONDS,
    onError: (error) => {
      logger.error({ err: error }, 'looking for the marker of the object storage failed');
    },
  });
}

function createPatientLook({ look, logger }: Pick<FollowOptions, 'look' | 'logger'>) {
  let elsewhereSince: number | null = null;
  let isAway = false;
  const lookUnlessAway = async () => {
    try {
      const place = await look();
      isAway = false;
      return place;
    } catch (thrown) {
      const error = toUnavailable(thrown);
      if (!(error instanceof UnavailableError)) throw error;
      if (!isAway) logger.warn({ err: error }, 'the marker of the object storage cannot be looked for');
      isAway = true;
      return null;
    }
  };
  return async (): Promise<MarkerSight> => {
    const place = await lookUnlessAway();
    elsewhereSince = place === 'elsewhere' ? (elsewhereSince ?? performance.now()) : null;
    const isLost = elsewhereSince !== null && performance.now() - elsewhereSince > PATIENCE_MILLISECONDS;
    return { place, isLost };
  };
}
