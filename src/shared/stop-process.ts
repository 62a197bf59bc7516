import type { Logger } from './observability/logger.js';

/** How long beyond the time that running work may take a process still exists. */
const GRACE_SECONDS = 4;

interface StopOptions {
  readonly logger: Logger;
  /** What the log says. */
  readonly message: string;
  /** How long running work may take to end. */
  readonly drainSeconds: number;
  /**
   * How long the process goes on serving after SIGTERM, which what supervises processes behind a balancer sends. A
   * terminal, and a parent that is gone, wait for nothing.
   */
  readonly delaySeconds?: number;
  readonly close: (delaySeconds: number) => Promise<void>;
}

export interface ProcessStop {
  /** Closes what runs, then ends the process with the exit code. Only the first call counts. */
  readonly stop: (reason: string, code: number) => void;
  readonly isStopping: () => boolean;
}

/** For a process's `main`: signals stop the process, and a stop that takes too long ends it as it is. */
export function stopOnSignals({
  logger,
  message,
  drainSeconds,
  delaySeconds = 0,
  close,
}: StopOptions): ProcessStop {
  let isStopping = false;
  const stop = (reason: string, code: number, delay: number) => {
    // A terminal's Ctrl-C may come with the parent's SIGTERM.
    if (isStopping) return;
    isStopping = true;
    logger.info({ reason }, message);
    // Even a Redis that never answers again must not keep the process alive.
    setTimeout(() => process.exit(1), (drainSeconds + GRACE_SECONDS) * 1_000).unref();
    close(delay).then(
      () => process.exit(code),
      (error: unknown) => {
        logger.error({ err: error }, 'process did not stop cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.on(signal, () => stop(signal, 0, signal === 'SIGTERM' ? delaySeconds : 0));
  }
  return { stop: (reason, code) => stop(reason, code, 0), isStopping: () => isStopping };
}
