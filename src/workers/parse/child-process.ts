import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ChildMessage, ParseTask } from './protocol.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const STDERR_KEPT = 8_192;

export interface ParserExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last words on its standard error. */
  readonly stderr: string;
}

export interface ParserChild {
  /** Resolves when the child takes tasks, or is gone. */
  readonly ready: Promise<void>;
  readonly exited: Promise<ParserExit>;
  isRunning(): boolean;
  send(task: ParseTask): Promise<void>;
  /** Hears the child's messages; the newest listener only. */
  listen(listener: (message: ChildMessage) => void): void;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
}

/** Starts a parser process that may address at most `memoryMegabytes`; it ends with its parent. */
export function startParserChild({ memoryMegabytes }: { memoryMegabytes: number }): ParserChild {
  // The heap is kept below the address space: what V8 does not get, buffers and WASM need.
  const heap = String(Math.floor(memoryMegabytes * 0.45));
  const limit = `ulimit -v ${String(memoryMegabytes * 1024)} && exec "$0" "$@"`;
  // WASM under an address-space limit: no guard regions, and reservations of what it may use, not of all there is.
  const options = [
    '--disable-wasm-trap-handler',
    '--wasm-max-mem-pages=2048',
    '--wasm-max-initial-code-space-reservation=8',
    `--max-old-space-size=${heap}`,
    '--v8-pool-size=1',
    '--no-warnings',
  ];
  const child = spawn('/bin/sh', ['-c', limit, process.execPath, ...options, CHILD], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'json',
    // No secrets of ours, and no options meant for us.
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' },
  });
  let listener: (message: ChildMessage) => void = () => undefined;
  const stderr = keepStderr(child);
  const exited = new Promise<ParserExit>((resolve) => {
    child.once('error', (error) => {
      resolve({ code: null, signal: null, stderr: error.message });
    });
    child.once('close', (code, signal) => {
      resolve({ code, signal, stderr: stderr() });
    });
  });
  const ready = new Promise<void>((resolve) => {
    // @NOTE: the child is our own code; its messages need no parsing, of which there are megabytes.
    child.on('message', (message) => {
      const said = message as ChildMessage;
      if (said.type === 'ready') resolve();
      else listener(said);
    });
    void exited.then(() => {
      resolve();
    });
  });
  return {
    ready,
    exited,
    isRunning: () => child.connected && child.exitCode === null && child.signalCode === null,
    send: (task) => sendTo(child, task),
    listen(next) {
      listener = next;
    },
    kill() {
      child.kill('SIGKILL');
    },
  };
}

/** Resolves also when the child is gone: its exit is the one account of its death. */
function sendTo(child: ChildProcess, task: ParseTask): Promise<void> {
  return new Promise((resolve) => {
    if (!child.connected) {
      resolve();
      return;
    }
    child.send(task, () => {
      resolve();
    });
  });
}

function keepStderr(child: ChildProcess): () => string {
  let kept = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-STDERR_KEPT);
  });
  return () => kept;
}
