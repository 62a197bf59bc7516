import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileFormat } from '../../shared/documents/file-types.js';
import { isQuick } from '../../shared/documents/quick-content.js';
import type { Chunk } from '../chunking/chunk.js';
import type { ParserChild } from './child-process.js';
import { createChildren, type Children } from './children.js';
import type { Launch } from './confinement/start-confined.js';
import type { ParseTask } from './protocol.js';
import { runInChild, type TaskEnd } from './run-in-child.js';
import type { Workspace } from './confinement/workspace.js';

/** A longer text goes to the child by way of a file, so that it is in memory there only. */
const MAX_MESSAGE_CHARACTERS = 1024 * 1024;
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
  /** Whose document it is: of the callers who wait, the one with the fewest children at work goes first. */
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

export function createParserPool(options: ParserPoolOptions): ParserPool {
  const children = createChildren(options);
  const running = new Set<Promise<unknown>>();
  const ending = new AbortController();

  return {
    incoming: options.workspace.incoming,
    async parse({ format, callerId = '', signal, ...source }) {
      throwIfEnded(signal, ending.signal);
      const chunk = { ...options.chunk, maxChunks: options.maxChunks };
      const run = withSource(source, options.workspace.incoming, (given) =>
        runTask(
          { options, children, ending: ending.signal },
          { format, source: given, chunk },
          { callerId, signal },
        ),
      );
      running.add(run);
      try {
        return { chunks: await run };
      } finally {
        running.delete(run);
      }
    },
    async close() {
      ending.abort(new Error('the parser pool is closed'));
      children.kill();
      await Promise.allSettled(running);
      await children.removed();
    },
  };
}

interface TaskParts {
  readonly options: Pick<ParserPoolOptions, 'memoryMegabytes' | 'timeoutMilliseconds' | 'logger'>;
  readonly children: Children;
  /** Aborts when the pool is closed. */
  readonly ending: AbortSignal;
}

/** Has a child read one document, and replaces the child where it is lost, heavy or old. */
async function runTask(
  { options, children, ending }: TaskParts,
  task: Omit<ParseTask, 'id'>,
  { callerId, signal }: { callerId: string; signal: AbortSignal | undefined },
): Promise<Chunk[]> {
  const isQuick = await isQuickTask(task);
  const slot = await children.queue.take({ isQuick, callerId, signal });
  try {
    throwIfEnded(signal, ending);
    const child = children.runningIn(slot);
    const limits = { signal, timeoutMilliseconds: options.timeoutMilliseconds };
    const end = await withFile(child, task.source, (source) =>
      runInChild(child, { ...task, source, id: children.nextTaskId() }, limits),
    );
    const isHeavy = end.residentBytes > (options.memoryMegabytes * 1_048_576) / 3;
    if (end.isLost || isHeavy || slot.documents >= DOCUMENTS_PER_CHILD) children.replace(slot);
    throwIfEnded(signal, ending);
    if (end.error === undefined) return end.chunks;
    if (end.isLost)
      options.logger?.warn({ format: task.format, reason: end.error.message }, 'parser process replaced');
    throw end.error;
  } finally {
    children.queue.giveBack(slot, { isQuick, callerId });
  }
}

function throwIfEnded(signal: AbortSignal | undefined, ending: AbortSignal): void {
  signal?.throwIfAborted();
  ending.throwIfAborted();
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
  if ('path' in source || source.text.length <= MAX_MESSAGE_CHARACTERS) return await run(source);
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
