import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileFormat } from '../../shared/file-types.js';
import type { Chunk } from '../chunk.js';
import { startParserChild, type ParserChild } from './child-process.js';
import type { ParseTask } from './protocol.js';
import { createQueue } from './queue.js';
import { runInChild } from './run-in-child.js';

/** A longer text goes to the child by way of a file, so that it is in memory there only. */
const LONGEST_MESSAGE = 1024 * 1024;
/** Formats that take time by their length alone: up to `QUICK_BYTES` they are read within a second. */
const LINEAR: ReadonlySet<FileFormat> = new Set<FileFormat>(['text', 'markdown', 'html', 'csv', 'json']);
const QUICK_BYTES = 1024 * 1024;
/** Documents after which a child is replaced, whatever it weighs: what libraries leak stays small. */
const DOCUMENTS_PER_CHILD = 10_000;

export interface ParserPoolOptions {
  /** Child processes, each reading one document at a time; one more is started when short texts wait for slow files. */
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
  /** null: not needed so far. */
  child: ParserChild | null;
  documents: number;
}

export function createParserPool(options: ParserPoolOptions): ParserPool {
  const start = (): ParserChild => startParserChild(options);
  const slots: Slot[] = Array.from({ length: options.size }, () => ({ child: start(), documents: 0 }));
  const spare: Slot = { child: null, documents: 0 };
  const queue = createQueue(slots, spare);
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  let lastId = 0;

  const replace = (slot: Slot): void => {
    slot.child?.kill();
    slot.documents = 0;
    slot.child = isClosed ? null : start();
  };

  const runTask = async (task: Omit<ParseTask, 'id'>, signal: AbortSignal | undefined): Promise<Chunk[]> => {
    const isQuick = await isQuickTask(task);
    const slot = await queue.take({ isQuick, signal });
    try {
      throwIfEnded(signal, isClosed);
      if (!slot.child?.isRunning()) {
        slot.child = start();
        slot.documents = 0;
      }
      slot.documents += 1;
      const limits = { signal, timeoutMilliseconds: options.timeoutMilliseconds };
      const end = await runInChild(slot.child, { ...task, id: (lastId += 1) }, limits);
      const isHeavy = end.residentBytes > (options.memoryMegabytes * 1_048_576) / 3;
      if (end.isLost || isHeavy || slot.documents >= DOCUMENTS_PER_CHILD) replace(slot);
      throwIfEnded(signal, isClosed);
      if (end.error === undefined) return end.chunks;
      if (end.isLost)
        options.logger?.warn({ format: task.format, reason: end.error.message }, 'parser process replaced');
      throw end.error;
    } finally {
      queue.giveBack(slot, { isQuick });
    }
  };

  return {
    async parse({ format, signal, ...source }) {
      throwIfEnded(signal, isClosed);
      const chunk = { ...options.chunk, maxChunks: options.maxChunks };
      const run = withSource(source, (given) => runTask({ format, source: given, chunk }, signal));
      running.add(run);
      try {
        return { chunks: await run };
      } finally {
        running.delete(run);
      }
    },
    async close() {
      isClosed = true;
      const children = [...slots, spare].flatMap(({ child }) => child ?? []);
      for (const child of children) child.kill();
      await Promise.allSettled([...running, ...children.map((child) => child.exited)]);
    },
  };
}

function throwIfEnded(signal: AbortSignal | undefined, isClosed: boolean): void {
  signal?.throwIfAborted();
  if (isClosed) throw new Error('the parser pool is closed');
}

async function isQuickTask({ format, source }: Omit<ParseTask, 'id'>): Promise<boolean> {
  if (!LINEAR.has(format)) return false;
  const size = 'text' in source ? source.text.length : (await stat(source.path)).size;
  return size <= QUICK_BYTES;
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
