import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../../shared/system-error-code.js';
import { readMessages } from './child-channel.js';
import { startConfined, type Launch } from './confinement/start-confined.js';
import type { ParserFolder } from './confinement/parser-folder.js';
import type { ChildTask } from './protocol.js';
import type { Workspace } from './confinement/workspace.js';

const CHILD = fileURLToPath(new URL('./child-main.js', import.meta.url));
const STDERR_KEPT = 8_192;
/** The share of the address space that V8's heap may use. Buffers and WASM need the rest. */
const HEAP_SHARE = 0.45;
/** Options for WASM under an address-space limit: no guard regions, and smaller reservations than by default. */
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
  /** The end of its standard error. */
  readonly stderr: string;
}

export interface ParserChild {
  /** Resolves when the child is ready for tasks, or has exited. */
  readonly ready: Promise<void>;
  readonly exited: Promise<ParserExit>;
  /** The child's folder, which is removed when the child has exited. */
  readonly folder: Pick<ParserFolder, 'take' | 'give' | 'drop'>;
  /** Resolves when its folder is removed; rejects when that fails. */
  readonly removed: Promise<void>;
  isRunning(): boolean;
  send(task: ChildTask): Promise<void>;
  /** Sets the listener for the child's messages, which replaces the one before. They may be anything. */
  listen(listener: (message: unknown) => void): void;
  /** Kills the child at once. */
  kill(): void;
}

export interface ParserChildOptions {
  /** Limit of the address space. */
  readonly memoryMegabytes: number;
  readonly launch: Launch;
  readonly workspace: Workspace;
  /** The script that the child runs instead of the parser, for tests of its messages. */
  readonly script?: string | undefined;
}

/** Starts a parser process within its limits, in its own folder. It ends when its parent ends. */
export function startParserChild({
  memoryMegabytes,
  launch,
  workspace,
  script = CHILD,
}: ParserChildOptions): ParserChild {
  const folder = workspace.createFolder(launch.user);
  const child = startConfined(launch, {
    script,
    folder: folder.path,
    limits: [`ulimit -v ${String(memoryMegabytes * 1024)}`, 'ulimit -c 0'],
    nodeOptions: [...nodeOptions, `--max-old-space-size=${String(Math.floor(memoryMegabytes * HEAP_SHARE))}`],
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  // A task that is written to a child that has just ended fails; its exit tells the reason.
  child.stdin?.on('error', () => undefined);
  const exited = whenExited(child);
  let listener: (message: unknown) => void = () => undefined;
  const messages = messagesOf(child);
  // Nothing more can come from it, whether it has ended or has said too much.
  messages?.once('close', () => {
    killGroup(child);
  });
  const ready = whenReady(messages, (message) => {
    listener(message);
  });
  return {
    ready: Promise.race([ready, exited.then(() => undefined)]),
    exited,
    folder,
    removed: exited.then(() => folder.remove()),
    isRunning: () => messages?.destroyed === false && isAlive(child),
    send: (task) => sendTo(child, task),
    listen(next) {
      listener = next;
    },
    kill() {
      killGroup(child);
    },
  };
}

const isAlive = ({ stdin, exitCode, signalCode }: ChildProcess): boolean =>
  stdin?.writable === true && exitCode === null && signalCode === null;

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

/** The pipe over which the child sends its messages; null when it could not be started. */
function messagesOf({ stdio: [, , , messages] }: ChildProcess): Readable | null {
  return messages instanceof Readable ? messages : null;
}

/** Resolves when the first message of the child is that it is ready; `hear` gets all other messages. */
function whenReady(messages: Readable | null, hear: (message: unknown) => void): Promise<void> {
  return new Promise((resolve) => {
    if (!messages) return;
    let hasSpoken = false;
    readMessages(messages, (message) => {
      const isReady =
        typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
      if (isReady && !hasSpoken) resolve();
      else hear(message);
      hasSpoken = true;
    });
  });
}

/** Also resolves when the child has exited; its exit is reported elsewhere. */
function sendTo({ stdin }: ChildProcess, task: ChildTask): Promise<void> {
  return new Promise((resolve) => {
    if (stdin?.writable !== true) {
      resolve();
      return;
    }
    stdin.write(`${JSON.stringify(task)}\n`, () => {
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

/** Kills a process and everything that it may have started. */
function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (systemErrorCode(error) !== 'ESRCH') throw error;
  }
}
