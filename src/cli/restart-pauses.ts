const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const STEADY_AFTER_MS = 60_000;
/** The share of a pause that chance may take away, so that processes that died together do not start together. */
const JITTER = 0.25;

export interface RestartPauses {
  /** Returns how many milliseconds to wait before the next start of a process that ran for so long. */
  after(ranForMs: number): number;
  /** The number of times that it has ended since it last ran for more than a minute. */
  readonly failures: number;
  /** True if it has ever run for more than a minute. */
  readonly wasSteady: boolean;
}

/**
 * Decides how long to wait before a process that ended is started again: twice as long each time, up to a minute, and
 * never for ever. Kubernetes does the same with its CrashLoopBackOff, up to five minutes.
 */
export function createRestartPauses({ random = Math.random } = {}): RestartPauses {
  let failures = 0;
  let wasSteady = false;
  return {
    after: (ranForMs) => {
      if (ranForMs > STEADY_AFTER_MS) {
        failures = 0;
        wasSteady = true;
      }
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS);
      failures += 1;
      return Math.round(pauseMs * (1 - JITTER * random()));
    },
    get failures() {
      return failures;
    },
    get wasSteady() {
      return wasSteady;
    },
  };
}
