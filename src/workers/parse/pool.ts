import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileFormat } from '../../shared/file-types.js';
import { isQuick } from '../../shared/quick-content.js';
import type { Chunk } from '../chunk.js';
import { startParserChild, type ParserChild } from './child-process.js';
import type { Launch } from './launch.js';
import type { ParseTask } from './protocol.js';
import { createQueue } from './queue.js';
import { runInChild, type TaskEnd } from './run-in-child.js';
import type { Workspace } from './workspace.js';

/** A longer text goes to the child by way of a file, so that it is in memory there only. */
const LONGEST_MESSAGE = 1024 * 1024;
/** Documents after which a child is replaced, whatever it weighs: what libraries leak stays small. */
const DOCUMENTS_PER_CHILD = 10_000;

export interface ParserPoolOptions {
  /** Child processes, each reading one document at a time; one more is started when short texts wait for slow files. */
  readonly size: number;
  /** Address space of a child. */
  readonly memoryMegabytes: number;
  readonly launch: Launch;
  readonly workspace: Workspace;
  /** Wall clock of one document. */
  readonly timeoutMilliseconds: number;
  readonly maxChunks: number;
  readonly chunk: { readonly size: number; readonly overlap: number };
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export interface ParseRequest {
  readonly format: FileFormat;
  /** Whose document it is: of those who wait, whoever has the fewest children at work goes first. */
  readonly callerId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ParserPool {
  /** Folder where a file may be put that is for `parse` alone: it is moved from there, others are copied. */
  readonly incoming: string;
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
  const start = (): ParserChild => {
    const child = startParserChild(options);
    leftovers.add(child.removed);
    child.removed
      .catch((error: unknown) =>
        options.logger?.warn({ err: error }, 'files of a parser process not removed'),
      )
      .finally(() => leftovers.delete(child.removed))
      .catch(() => undefined);
    return child;
  };
  const leftovers = new Set<Promise<void>>();
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

  const runTask = async (
    task: Omit<ParseTask, 'id'>,
    { callerId = '', signal }: Omit<ParseRequest, 'format'>,
  ): Promise<Chunk[]> => {
    const quick = await isQuickTask(task);
    const slot = await queue.take({ isQuick: quick, callerId, signal });
    try {
      throwIfEnded(signal, isClosed);
      if (!slot.child?.isRunning()) {
        slot.child = start();
        slot.documents = 0;
      }
      slot.documents += 1;
      const limits = { signal, timeoutMilliseconds: options.timeoutMilliseconds };
      const { child } = slot;
      const end = await withFile(child, task.source, (source) =>
        runInChild(child, { ...task, source, id: (lastId += 1) }, limits),
      );
      const isHeavy = end.residentBytes > (options.memoryMegabytes * 1_048_576) / 3;
      if (end.isLost || isHeavy || slot.documents >= DOCUMENTS_PER_CHILD) replace(slot);
      throwIfEnded(signal, isClosed);
      if (end.error === undefined) return end.chunks;
      if (end.isLost)
        options.logger?.warn({ format: task.format, reason: end.error.message }, 'parser process replaced');
      throw end.error;
    } finally {
      queue.giveBack(slot, { isQuick: quick, callerId });
    }
  };

  return {
    incoming: options.workspace.incoming,
    async parse({ format, callerId, signal, ...source }) {
      throwIfEnded(signal, isClosed);
      const chunk = { ...options.chunk, maxChunks: options.maxChunks };
      const run = withSource(source, options.workspace.incoming, (given) =>
        runTask({ format, source: given, chunk }, { callerId, signal }),
      );
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
      await Promise.allSettled([...running, ...leftovers]);
    },
  };
}

function throwIfEnded(signal: AbortSignal | undefined, isClosed: boolean): void {
  signal?.throwIfAborted();
  if (isClosed) throw new Error('the parser pool is closed');
}

async function isQuickTask({ format, source }: Omit<ParseTask, 'id'>): Promise<boolean> {
  const size = 'text' in source ? source.text.length : (await stat(source.path)).size;
  return isQuick(format, size);
}

/** A text that is too long for a message is put into a file as long as `run` takes. */
async function withSource<T>(
  source: ParseTask['source'],
  incoming: string,
  run: (source: ParseTask['source']) => Promise<T>,
): Promise<T> {
  if ('path' in source || source.text.length <= LONGEST_MESSAGE) return await run(source);
  const path = join(incoming, randomUUID());
  try {
    await writeFile(path, source.text);
    return await run({ path });
  } finally {
    await rm(path, { force: true });
  }
}

/** A file is in the child's folder, and named as the child sees it, as long as `run` takes. */
async function withFile(
  child: ParserChild,
  source: ParseTask['source'],
  run: (source: ParseTask['source']) => Promise<TaskEnd>,
): Promise<TaskEnd> {
  if ('text' in source) return await run(source);
  const name = await child.folder.take(source.path);
  const end = await run({ path: name });
  // What it has made of the file can only be removed with all the rest.
  if (!end.isLost)
    await child.folder.drop(name).catch(() => {
      child.kill();
    });
  return end;
}
