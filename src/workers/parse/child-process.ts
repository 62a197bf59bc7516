import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../shared/error-code.js';
import { startConfined, type Launch } from './confinement/start-confined.js';
import type { ParserFolder } from './confinement/parser-folder.js';
import type { ChildMessage, ParseTask } from './protocol.js';
import type { Workspace } from './confinement/workspace.js';

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
const STDERR_KEPT = 8_192;
/** The heap is kept below the address space: what V8 does not get, buffers and WASM need. */
const HEAP_SHARE = 0.45;
/** WASM under an address-space limit: no guard regions, and reservations of what it may use, not of all there is. */
const nodeOptions = [
  '--disable-wasm-trap-handler',
  '--wasm-max-mem-pages=2048',
  '--wasm-max-initial-code-space-reservation=8',
  '--v8-pool-size=1',
  '--no-warnings',
];

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
  /** Its folder, which goes when it has exited. */
  readonly folder: Pick<ParserFolder, 'take' | 'drop'>;
  /** Resolves when nothing is left of it; rejects when its folder could not be removed. */
  readonly removed: Promise<void>;
  isRunning(): boolean;
  send(task: ParseTask): Promise<void>;
  /** Hears the child's messages; the newest listener only. */
  listen(listener: (message: ChildMessage) => void): void;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
}

export interface ParserChildOptions {
  /** Address space. */
  readonly memoryMegabytes: number;
  readonly launch: Launch;
  readonly workspace: Workspace;
}

/** Starts a parser process within its limits, in a folder of its own; it ends with its parent. */
export function startParserChild({ memoryMegabytes, launch, workspace }: ParserChildOptions): ParserChild {
  const folder = workspace.createFolder(launch.user);
  const child = startConfined(launch, {
    script: CHILD,
    folder: folder.path,
    limits: [`ulimit -v ${String(memoryMegabytes * 1024)}`, 'ulimit -c 0'],
    nodeOptions: [...nodeOptions, `--max-old-space-size=${String(Math.floor(memoryMegabytes * HEAP_SHARE))}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const exited = whenExited(child);
  let listener: (message: ChildMessage) => void = () => undefined;
  const ready = whenReady(child, (message) => {
    listener(message);
  });
  return {
    ready: Promise.race([ready, exited.then(() => undefined)]),
    exited,
    folder,
    removed: exited.then(() => folder.remove()),
    isRunning: () => child.connected && child.exitCode === null && child.signalCode === null,
    send: (task) => sendTo(child, task),
    listen(next) {
      listener = next;
    },
    kill() {
      killGroup(child);
    },
  };
}

function whenExited(child: ChildProcess): Promise<ParserExit> {
  const stderr = keepStderr(child);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      resolve({ code: null, signal: null, stderr: error.message });
    });
    child.once('close', (code, signal) => {
      resolve({ code, signal, stderr: stderr() });
    });
  });
}

/** Resolves when the child says that it is ready; `hear` gets everything else that it says. */
function whenReady(child: ChildProcess, hear: (message: ChildMessage) => void): Promise<void> {
  return new Promise((resolve) => {
    // @NOTE: the child is our own code; its messages need no parsing, of which there are megabytes.
    child.on('message', (message) => {
      const said = message as ChildMessage;
      if (said.type === 'ready') resolve();
      else hear(said);
    });
  });
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

/** Ends a process with all that it may have started. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
