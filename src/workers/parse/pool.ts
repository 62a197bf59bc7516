import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IngestError } from '../../shared/errors.js';
import type { FileFormat } from '../../shared/file-types.js';
import type { Chunk } from '../chunk.js';
import { startParserChild, type ParserChild, type ParserExit } from './child-process.js';
import type { ChildMessage, ParseTask } from './protocol.js';

/** A longer text goes to the child by way of a file, so that it is in memory there only. */
const LONGEST_MESSAGE = 1024 * 1024;
/** Documents after which a child is replaced, whatever it weighs: what libraries leak stays small. */
const DOCUMENTS_PER_CHILD = 10_000;
const STARTUP_MILLISECONDS = 30_000;

export interface ParserPoolOptions {
  /** Child processes, each reading one document at a time. */
  readonly size: number;
  /** Address space of a child. */
  readonly memoryMegabytes: number;
  /** Wall clock of one document. */
  readonly timeoutMilliseconds: number;
  readonly maxChunks: number;
  readonly chunk: { readonly size: number; readonly overlap: number };
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export interface ParseRequest {
  readonly format: FileFormat;
  readonly signal?: AbortSignal | undefined;
}

export interface ParserPool {
  /**
   * Chunks of the file at `path`, or of `text`.
   * @throws IngestError when the document can never be read; any other error (a child killed from outside) may pass
   */
  parse(
    request: ParseRequest & ({ readonly path: string } | { readonly text: string }),
  ): Promise<{ chunks: Chunk[] }>;
  /** Kills what runs; its documents reject. No process is left. */
  close(): Promise<void>;
}

interface Slot {
  child: ParserChild;
  documents: number;
}

export function createParserPool(options: ParserPoolOptions): ParserPool {
  const start = (): ParserChild => startParserChild(options);
  const slots: Slot[] = Array.from({ length: options.size }, () => ({ child: start(), documents: 0 }));
  const idle = [...slots];
  const waiting: ((slot: Slot) => void)[] = [];
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let lastId = 0;

  const acquire = async (signal: AbortSignal): Promise<Slot> => {
    const free = idle.pop();
    if (free) return free;
    return await new Promise<Slot>((resolve, reject) => {
      const abort = (): void => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(reasonOf(signal));
      };
      const take = (slot: Slot): void => {
        signal.removeEventListener('abort', abort);
        resolve(slot);
      };
      waiting.push(take);
      signal.addEventListener('abort', abort, { once: true });
    });
  };
  const release = (slot: Slot): void => {
    const next = waiting.shift();
    if (next) next(slot);
    else idle.push(slot);
  };
  const replace = (slot: Slot): void => {
    slot.child.kill();
    slot.documents = 0;
    if (!closing.signal.aborted) slot.child = start();
  };

  const runTask = async (task: Omit<ParseTask, 'id'>, signal: AbortSignal): Promise<Chunk[]> => {
    signal.throwIfAborted();
    const slot = await acquire(signal);
    try {
      if (await hasExited(slot.child)) replace(slot);
      slot.documents += 1;
      const end = await runInChild(
        slot.child,
        { ...task, id: (lastId += 1) },
        { signal, timeoutMilliseconds: options.timeoutMilliseconds },
      );
      const isHeavy = end.residentBytes > (options.memoryMegabytes * 1_048_576) / 3;
      if (end.isLost || isHeavy || slot.documents >= DOCUMENTS_PER_CHILD) replace(slot);
      if (end.error === undefined) return end.chunks;
      if (end.isLost)
        options.logger?.warn({ format: task.format, reason: end.error.message }, 'parser process replaced');
      throw end.error;
    } finally {
      release(slot);
    }
  };

  return {
    async parse({ format, signal, ...source }) {
      const either = AbortSignal.any(signal ? [signal, closing.signal] : [closing.signal]);
      const chunk = { ...options.chunk, maxChunks: options.maxChunks };
      const run = withSource(source, (given) => runTask({ format, source: given, chunk }, either));
      running.add(run);
      try {
        return { chunks: await run };
      } finally {
        running.delete(run);
      }
    },
    async close() {
      closing.abort(new Error('the parser pool is closed'));
      for (const { child } of slots) child.kill();
      await Promise.allSettled([...running, ...slots.map(({ child }) => child.exited)]);
    },
  };
}

/** A text that is too long for a message is put into a file as long as `run` takes. */
async function withSource<T>(
  source: ParseTask['source'],
  run: (source: ParseTask['source']) => Promise<T>,
): Promise<T> {
  if ('path' in source || source.text.length <= LONGEST_MESSAGE) return await run(source);
  const directory = await mkdtemp(join(tmpdir(), 'quire-text-'));
  try {
    const path = join(directory, 'text');
    await writeFile(path, source.text);
    return await run({ path });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function hasExited(child: ParserChild): Promise<boolean> {
  return await Promise.race([child.exited.then(() => true), Promise.resolve(false)]);
}

interface TaskEnd {
  readonly chunks: Chunk[];
  readonly error: Error | undefined;
  /** The child is dead, or must be. */
  readonly isLost: boolean;
  readonly residentBytes: number;
}

interface RunLimits {
  readonly signal: AbortSignal;
  readonly timeoutMilliseconds: number;
}

/** Hands one document to a child and hears it out: to its end, its death, the clock's, or the caller's. */
async function runInChild(
  child: ParserChild,
  task: ParseTask,
  { signal, timeoutMilliseconds }: RunLimits,
): Promise<TaskEnd> {
  const chunks: Chunk[] = [];
  let timer: NodeJS.Timeout | undefined;
  let abort: (() => void) | undefined;
  try {
    return await new Promise<TaskEnd>((resolve) => {
      const lose = (error: Error): void => {
        resolve({ chunks, error, isLost: true, residentBytes: 0 });
      };
      const keep = (residentBytes: number, error?: Error): void => {
        resolve({ chunks, error, isLost: false, residentBytes });
      };
      const hear = (message: ChildMessage): void => {
        if (message.type === 'ready' || message.id !== task.id) return;
        if (message.type === 'chunks') for (const chunk of message.chunks) chunks.push(chunk);
        else if (message.type === 'done') keep(message.residentBytes);
        else if (message.type === 'failed')
          keep(message.residentBytes, new IngestError(message.code, message.message));
        else lose(new Error(`parser failed: ${message.message}`));
      };
      abort = () => {
        lose(reasonOf(signal));
      };
      signal.addEventListener('abort', abort, { once: true });
      void child.exited.then((exit) => {
        lose(deathError(exit));
      });
      timer = setTimeout(() => {
        lose(new Error('a parser process did not start in time'));
      }, STARTUP_MILLISECONDS);
      child.listen(hear);
      void child.ready.then(async () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          lose(new IngestError('timeout', 'Reading the document took too long.'));
        }, timeoutMilliseconds);
        await child.send(task);
      });
    });
  } finally {
    clearTimeout(timer);
    if (abort) signal.removeEventListener('abort', abort);
  }
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}

const CRASH_SIGNALS = new Set(['SIGABRT', 'SIGSEGV', 'SIGILL', 'SIGTRAP', 'SIGBUS', 'SIGFPE']);

/** A crash is the document's doing and would come again; a kill from outside is not. */
function deathError({ code, signal, stderr }: ParserExit): Error {
  const isCrash =
    (signal !== null && CRASH_SIGNALS.has(signal)) ||
    (code !== null && [132, 133, 134, 136, 138, 139].includes(code));
  const isMemory = /out of memory|allocation fail|bad_alloc|Cannot allocate|heap limit|Zone/i.test(stderr);
  if (isMemory) return new IngestError('too_large', 'The document needs more memory than a parser has.');
  if (isCrash) return new IngestError('corrupt', 'The document makes the parser fail.');
  return new Error(`parser process ended early (${signal ?? String(code)})`);
}
