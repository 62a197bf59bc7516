import type { ChildProcess } from 'node:child_process';
import { EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';
import { createRestartPauses } from './restart-pauses.js';
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
