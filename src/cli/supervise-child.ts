import type { ChildProcess } from 'node:child_process';
import { EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { say } from './user-messages.js';

/** The number of failures, without a whole minute of running, after which a process that nothing works without is given up. */
const HOPELESS_AFTER_FAILURES = 5;

export interface ChildOptions {
  readonly name: string;
  readonly start: () => ChildProcess;
  /** Starts it again for ever, because others go on without it. Its settings can end that all the same. */
  readonly isForEver?: true;
  /** Called when starting it again would be of no use. */
  readonly onHopeless: (reason: string) => void;
}

export interface Child {
  readonly name: string;
  /** Sends SIGTERM, waits, then kills the process. */
  stop(patienceMs: number): Promise<void>;
  kill(): void;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

/** Keeps a process running. It is started again when it ends, after pauses that double while it keeps failing. */
export function superviseChild({ name, start, isForEver, onHopeless }: ChildOptions): Child {
  const pauses = createRestartPauses();
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  let current = run();

  function run(): ChildProcess {
    const child = start();
    const startedAt = Date.now();
    onceEnded(child, (reason, code) => {
      if (isStopping) return;
      const pauseMs = pauses.after(Date.now() - startedAt);
      const isHopeless = !isForEver && !pauses.wasSteady && pauses.failures >= HOPELESS_AFTER_FAILURES;
      if (code === EXIT_WRONG_SETTINGS) onHopeless(`${name} cannot run with these settings and data`);
      else if (isHopeless) onHopeless(`${name} keeps ending (${reason})`);
      else {
        say(`${name} ended (${reason}); starting it again in ${String(pauseMs / 1000)} s`);
        restart = setTimeout(() => (current = run()), pauseMs);
      }
    });
    return child;
  }
  const startNoMore = () => {
    isStopping = true;
    clearTimeout(restart);
  };

  return {
    name,
    stop: async (patienceMs) => {
      startNoMore();
      if (!hasEnded(current)) await stopProcess(current, name, patienceMs);
    },
    kill: () => {
      startNoMore();
      if (!hasEnded(current)) current.kill('SIGKILL');
    },
  };
}

/** Calls `ended` once, when the process exits or cannot be started. */
function onceEnded(child: ChildProcess, ended: (reason: string, code: number | null) => void): void {
  let isOver = false;
  const end = (reason: string, code: number | null) => {
    if (isOver) return;
    isOver = true;
    ended(reason, code);
  };
  child.on('error', (error) => {
    end(error.message, null);
  });
  child.on('exit', (code, signal) => {
    end(signal ?? `code ${String(code)}`, code);
  });
}

async function stopProcess(child: ChildProcess, name: string, patienceMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      say(`${name} did not end in time; killing it`);
      child.kill('SIGKILL');
    }, patienceMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const STEADY_AFTER_MS = 60_000;
/** The share of a pause that chance may take away, so that processes that died together do not start together. */
const JITTER = 0.25;

interface RestartPauses {
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
