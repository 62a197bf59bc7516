import { inspect } from 'node:util';
import { IncompatibleDataError } from './errors.js';
import { EXIT_WRONG_SETTINGS } from './exit-codes.js';
import type { Logger } from './observability/logger.js';
import { SettingsError } from './settings/rule.js';

/** The process is ended this long after the time that running work may take. */
const GRACE_SECONDS = 4;

interface StopOptions {
  readonly logger: Logger;
  /** The message that is logged. */
  readonly message: string;
  /** The time that running work may take to end. */
  readonly drainSeconds: number;
  /**
   * The time for which the process goes on serving after SIGTERM, which supervisors behind a balancer send. A Ctrl-C in a
   * terminal and a parent that is gone stop it at once.
   */
  readonly delaySeconds?: number;
  readonly close: (delaySeconds: number) => Promise<void>;
}

export interface ProcessStop {
  /** Closes everything, and then ends the process with the exit code. Only the first call counts. */
  readonly stop: (reason: string, code: number) => void;
  readonly isStopping: () => boolean;
}

/** Stops the process of a `main` at signals. A stop that takes too long is cut short. */
export function stopOnSignals({
  logger,
  message,
  drainSeconds,
  delaySeconds = 0,
  close,
}: StopOptions): ProcessStop {
  let isStopping = false;
  const stop = (reason: string, code: number, delay: number) => {
    // A Ctrl-C in a terminal may come together with SIGTERM from the parent.
    if (isStopping) return;
    isStopping = true;
    logger.info({ reason }, message);
    // A Redis that never answers again must not keep the process alive.
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
  // A parent that was gone before this process had loaded its code is not told of any more.
  setImmediate(() => {
    if (hasParentLeft()) stop('disconnect', 0, 0);
  });
  return { stop: (reason, code) => stop(reason, code, 0), isStopping: () => isStopping };
}

/** A process that was started without a channel to its parent has no `connected`, whatever its type says. */
const hasParentLeft = () => 'connected' in process && !process.connected;

/** Ends a process that cannot start or go on. Only the message is written of an error that its operator can mend. */
export function failProcess(error: unknown, options: { readonly isOperators?: boolean } = {}): never {
  const isOperators =
    options.isOperators === true || error instanceof SettingsError || error instanceof IncompatibleDataError;
  process.stderr.write(`${isOperators && error instanceof Error ? error.message : inspect(error)}\n`);
  process.exit(isOperators ? EXIT_WRONG_SETTINGS : 1);
}
