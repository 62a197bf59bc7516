import type { ChildProcess } from 'node:child_process';
import { say } from './report.js';
import { EXIT_WRONG_SETTINGS } from '../shared/exit-codes.js';

const firstPauseMs = 500;
const longestPauseMs = 30_000;
const steadyAfterMs = 60_000;
/** A process that fails this often without ever having been steady will not get better. */
const hopelessAfter = 5;

export interface ChildOptions {
  readonly name: string;
  readonly start: () => ChildProcess;
  /** Called when it is of no use to start it again. */
  readonly onHopeless: (reason: string) => void;
}

export interface Child {
  readonly name: string;
  /** Asks it to end with SIGTERM, waits, then kills it. */
  stop(patienceMs: number): Promise<void>;
  kill(): void;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

/** Keeps one process running: starts it again when it ends, after pauses that double while it keeps failing. */
export function superviseChild({ name, start, onHopeless }: ChildOptions): Child {
  let stopping = false;
  let pauseMs = firstPauseMs;
  let failures = 0;
  let wasSteady = false;
  let restart: NodeJS.Timeout | undefined;
  let current = run();

  function run(): ChildProcess {
    const child = start();
    const startedAt = Date.now();
    let over = false;
    const ended = (reason: string, code: number | null) => {
      if (over || stopping) return;
      over = true;
      if (code === EXIT_WRONG_SETTINGS) {
        onHopeless(`${name} cannot run with these settings and data`);
        return;
      }
      if (Date.now() - startedAt > steadyAfterMs) {
        pauseMs = firstPauseMs;
        wasSteady = true;
      }
      failures += 1;
      if (failures >= hopelessAfter && !wasSteady) {
        onHopeless(`${name} keeps ending (${reason})`);
        return;
      }
      say(`${name} ended (${reason}); starting it again in ${String(pauseMs / 1000)} s`);
      restart = setTimeout(() => (current = run()), pauseMs);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    };
    child.on('error', (error) => {
      ended(error.message, null);
    });
    child.on('exit', (code, signal) => {
      ended(signal ?? `code ${String(code)}`, code);
    });
    return child;
  }

  return {
    name,
    stop: async (patienceMs) => {
      stopping = true;
      clearTimeout(restart);
      const child = current;
      if (hasEnded(child)) return;
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
    },
    kill: () => {
      stopping = true;
      clearTimeout(restart);
      if (!hasEnded(current)) current.kill('SIGKILL');
    },
  };
}
