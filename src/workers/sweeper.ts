import { UnavailableError } from '../shared/errors.js';
import { keys } from '../shared/keys.js';
import { takeLease } from '../shared/lease.js';
import type { Logger } from '../shared/logger.js';
import { toUnavailable, type Redis } from '../shared/redis.js';
import type { Sweep } from './sweep.js';

export interface SweeperOptions {
  readonly redis: Redis;
  readonly sweep: Sweep;
  /** From the beginning of one sweep to that of the next, whoever does it; a longer one is followed at once. */
  readonly everyMilliseconds: number;
  /** After this long a sweep whose process died may be followed by another. */
  readonly leaseMilliseconds: number;
  readonly logger: Logger;
  readonly onSwept?: (swept: { outcome: 'done' | 'error'; seconds: number }) => void;
}

export interface Sweeper {
  /** Ends the running sweep after its step. */
  close(): Promise<void>;
}

/**
 * Sweeps again and again, one process at a time of however many have a sweeper, beside all queues: no job waits for a
 * sweep, nor a sweep for jobs.
 */
export function startSweeper(options: SweeperOptions): Sweeper {
  const { redis, everyMilliseconds, leaseMilliseconds, logger } = options;
  let isClosed = false;
  let wake = (): void => undefined;
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.min(1_000, everyMilliseconds / 4));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const turn = async () => {
    const lease = await takeLease(redis, {
      ...{ key: keys.sweepLease, pauseKey: keys.sweepPause },
      ...{ pauseMilliseconds: everyMilliseconds, milliseconds: leaseMilliseconds },
    });
    if (!lease) return;
    const started = performance.now();
    let outcome: 'done' | 'error' = 'error';
    // A step may take its time; a process that is frozen does not renew.
    const renewal = setInterval(() => {
      lease.renew().catch(() => undefined);
    }, leaseMilliseconds / 3);
    try {
      const found = await options.sweep(async () => !isClosed && (await lease.renew()));
      if (found.requeued > 0) logger.warn(found, 'requeued abandoned documents');
      outcome = 'done';
    } finally {
      clearInterval(renewal);
      options.onSwept?.({ outcome, seconds: (performance.now() - started) / 1_000 });
      await lease.release();
    }
  };

  const run = async () => {
    while (!isClosed) {
      await turn().catch((thrown: unknown) => {
        const error = toUnavailable(thrown);
        logger[error instanceof UnavailableError ? 'warn' : 'error']({ err: error }, 'sweep broke off');
      });
      // It may have been closed meanwhile.
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
      if (!isClosed) await pause();
    }
  };
  const running = run();
  return {
    close: async () => {
      isClosed = true;
      wake();
      await running;
    },
  };
}
