import type { ChildProcess } from 'node:child_process';
import { EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { say } from './user-messages.js';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
const STEADY_AFTER_MS = 60_000;
/** After so many failures without having ever run for a minute, a process is not started again. */
const HOPELESS_AFTER_FAILURES = 5;

export interface ChildOptions {
  readonly name: string;
  readonly start: () => ChildProcess;
  /** Is called when starting it again would be of no use. */
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
export function superviseChild({ name, start, onHopeless }: ChildOptions): Child {
  const failures = createFailures();
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  let current = run();

  function run(): ChildProcess {
    const child = start();
    const startedAt = Date.now();
    onceEnded(child, (reason, code) => {
      if (isStopping) return;
      const pauseMs = failures.pauseAfter(Date.now() - startedAt);
      if (code === EXIT_WRONG_SETTINGS) onHopeless(`${name} cannot run with these settings and data`);
      else if (pauseMs === null) onHopeless(`${name} keeps ending (${reason})`);
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

/** Decides how long to wait before the next start, based on the previous ones. */
function createFailures() {
  let nextPauseMs = FIRST_PAUSE_MS;
  let failures = 0;
  let wasSteady = false;
  return {
    /** Returns the pause in milliseconds; null when another start would be of no use. */
    pauseAfter: (ranForMs: number): number | null => {
      if (ranForMs > STEADY_AFTER_MS) {
        nextPauseMs = FIRST_PAUSE_MS;
        wasSteady = true;
      }
      failures += 1;
      if (failures >= HOPELESS_AFTER_FAILURES && !wasSteady) return null;
      const pauseMs = nextPauseMs;
      nextPauseMs = Math.min(nextPauseMs * 2, MAX_PAUSE_MS);
      return pauseMs;
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
