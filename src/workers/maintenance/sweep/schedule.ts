import { UnavailableError } from '../../../shared/errors.js';
import type { Logger } from '../../../shared/observability/logger.js';
import { toUnavailable, type Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { takeLease } from '../../../shared/redis/lease.js';
import type { Sweep } from './sweep.js';

export interface SweepScheduleOptions {
  readonly redis: Redis;
  readonly sweep: Sweep;
  /** Time from the start of one sweep to the start of the next, across all processes. A longer sweep is followed at once. */
  readonly everyMilliseconds: number;
  /** If a process dies during a sweep, another process may begin one after this time. */
  readonly leaseMilliseconds: number;
  readonly logger: Logger;
  readonly onSwept?: (swept: { outcome: 'done' | 'error'; seconds: number }) => void;
}

export interface SweepSchedule {
  /** Ends the current sweep after its current step. */
  close(): Promise<void>;
}

/**
 * Runs sweeps regularly, in one process at a time of all that have a schedule. Sweeps are no jobs, so that no job waits for
 * a sweep, nor a sweep for jobs.
 */
export function startSweepSchedule(options: SweepScheduleOptions): SweepSchedule {
  const { everyMilliseconds, logger } = options;
  let isClosed = false;
  const pause = createPause(Math.min(1_000, everyMilliseconds / 4));

  const run = async () => {
    while (!isClosed) {
      await sweepOnce(options, () => isClosed).catch((thrown: unknown) => {
        const error = toUnavailable(thrown);
        logger[error instanceof UnavailableError ? 'warn' : 'error']({ err: error }, 'sweep broke off');
      });
      // `close` may have been called in the meantime.
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition
      if (!isClosed) await pause.wait();
    }
  };
  const running = run();
  return {
    close: async () => {
      isClosed = true;
      pause.end();
      await running;
    },
  };
}

/** Runs a sweep if one is due and no other process runs it. */
async function sweepOnce(
  { redis, sweep, everyMilliseconds, leaseMilliseconds, logger, onSwept }: SweepScheduleOptions,
  isClosed: () => boolean,
): Promise<void> {
  const lease = await takeLease(redis, {
    key: keys.sweepLease,
    pauseKey: keys.sweepPause,
    pauseMilliseconds: everyMilliseconds,
    milliseconds: leaseMilliseconds,
  });
  if (!lease) return;
  const started = performance.now();
  let outcome: 'done' | 'error' = 'error';
  // A step may take long, so the lease is renewed in between; a process that is frozen does not renew it.
  const renewal = setInterval(() => {
    lease.renew().catch(() => undefined);
  }, leaseMilliseconds / 3);
  try {
    const found = await sweep(async () => !isClosed() && (await lease.renew()));
    if (found.requeued > 0) logger.warn(found, 'requeued abandoned documents');
    outcome = 'done';
  } finally {
    clearInterval(renewal);
    onSwept?.({ outcome, seconds: (performance.now() - started) / 1_000 });
    await lease.release();
  }
}

/** A pause that can be ended early. */
function createPause(milliseconds: number) {
  let end = (): void => undefined;
  return {
    wait: () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    end: (): void => {
      end();
    },
  };
}
