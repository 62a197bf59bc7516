import { randomUUID } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileFormat } from '../../shared/documents/file-types/formats.js';
import { isQuick } from '../../shared/documents/quick-content.js';
import { createSharedController } from '../../shared/tools/shared-controller.js';
import type { Chunk } from '../chunking/chunk.js';
import type { ParserChild } from './child-process.js';
import { createChildSlots, type Children, type Slot } from './child-slots.js';
import type { Launch } from './confinement/start-confined.js';
import type { ParseTask } from './protocol.js';
import { runInChild, type RunLimits, type TaskEnd } from './run-in-child.js';
import type { Workspace } from './confinement/workspace.js';

/** A longer text is passed to the child as a file, so that only the child holds it in memory. */
const MAX_MESSAGE_CHARACTERS = 1024 * 1024;
/** A child is replaced after so many documents, which limits memory that libraries leak. */
const DOCUMENTS_PER_CHILD = 10_000;
/** The formats that are read by compiled code, which may crash. They are read once more without it. */
const NATIVE: ReadonlySet<FileFormat> = new Set(['pdf']);

export interface ParserPoolOptions {
  /** Maximum number of child processes, each for one document at a time. One more runs while short texts would wait for slow files. */
  readonly size: number;
  /** A child that has had no document for so long ends; the next document starts one. */
  readonly idleMilliseconds: number;
  /** Limit of a child's address space. */
  readonly memoryMegabytes: number;
  readonly launch: Launch;
  readonly workspace: Workspace;
  /** The maximum time for one document. */
  readonly timeoutMilliseconds: number;
  readonly maxChunks: number;
  readonly chunk: { readonly size: number; readonly overlap: number };
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export interface ParseRequest {
  readonly format: FileFormat;
  /** What the client calls the file. */
  readonly filename?: string | null | undefined;
  /** The owner of the document. The caller for whom the fewest children work is served first. */
  readonly callerId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ParserPool {
  /** A folder for files that only `parse` needs: it moves them from there, and copies files of other folders. */
  readonly incoming: string;
  /**
   * Resolves with the chunks of the file at `path`, or of `text`.
   * @throws IngestError when the document can never be parsed; after any other error another attempt may succeed
   */
  parse(
    request: ParseRequest & ({ readonly path: string } | { readonly text: string }),
  ): Promise<{ chunks: Chunk[] }>;
  /** Kills all children; their documents reject. */
  close(): Promise<void>;
}

export function createParserPool(options: ParserPoolOptions): ParserPool {
  const children = createChildSlots(options);
  const running = new Set<Promise<unknown>>();
  const ending = createSharedController();

  return {
    incoming: options.workspace.incoming,
    async parse({ format, filename, callerId = '', signal, ...source }) {
      throwIfEnded(signal, ending.signal);
      const chunk = { ...options.chunk, maxChunks: options.maxChunks };
      const run = withSource(source, options.workspace.incoming, (given) =>
        runTask(
          { options, children, ending: ending.signal },
          { format, filename, source: given, chunk },
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

/** Has a child parse one document. Ends the child if it is lost, uses much memory, or has parsed many documents. */
async function runTask(
  parts: TaskParts,
  task: Omit<ParseTask, 'id'>,
  { callerId, signal }: { callerId: string; signal: AbortSignal | undefined },
): Promise<Chunk[]> {
  const { children, ending } = parts;
  const isQuick = await isQuickTask(task);
  const slot = await children.queue.take({ isQuick, callerId, signal });
  try {
    throwIfEnded(signal, ending);
    const { timeoutMilliseconds } = parts.options;
    const started = performance.now();
    let end = await runIn(slot, task, { parts, limits: { signal, timeoutMilliseconds } });
    if (end.isCrash && NATIVE.has(task.format)) {
      const left = Math.max(1, timeoutMilliseconds - (performance.now() - started));
      const limits = { signal, timeoutMilliseconds: left };
      end = await runIn(slot, { ...task, avoidsNativeCode: true }, { parts, limits });
    }
    if (end.error === undefined) return end.chunks;
    throw end.error;
  } finally {
    children.rest(slot);
    children.queue.giveBack(slot, { isQuick, callerId });
  }
}

async function runIn(
  slot: Slot,
  task: Omit<ParseTask, 'id'>,
  { parts, limits }: { parts: TaskParts; limits: RunLimits },
): Promise<TaskEnd> {
  const { options, children, ending } = parts;
  const child = children.runningIn(slot);
  const end = await withFile(child, task, (source) =>
    runInChild(child, { ...task, source, id: children.nextTaskId() }, limits),
  );
  const isHeavy = end.residentBytes > (options.memoryMegabytes * 1_048_576) / 3;
  if (end.isLost || isHeavy || slot.documents >= DOCUMENTS_PER_CHILD) children.drop(slot);
  throwIfEnded(limits.signal, ending);
  if (end.isLost)
    options.logger?.warn({ format: task.format, reason: end.error?.message }, 'parser process lost');
  return end;
}

function throwIfEnded(signal: AbortSignal | undefined, ending: AbortSignal): void {
  signal?.throwIfAborted();
  ending.throwIfAborted();
}

async function isQuickTask({ format, source }: Omit<ParseTask, 'id'>): Promise<boolean> {
  const size = 'text' in source ? source.text.length : (await stat(source.path)).size;
  return isQuick(format, size);
}

/** Writes a text that is too long for a message to a file while `run` runs. */
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

/** Puts a file into the child's folder while `run` runs, which gets its name there. It is kept where it may be read again. */
async function withFile(
  child: ParserChild,
  { source, format, avoidsNativeCode = false }: Omit<ParseTask, 'id'>,
  run: (source: ParseTask['source']) => Promise<TaskEnd>,
): Promise<TaskEnd> {
  if ('text' in source) return await run(source);
  const isKept = NATIVE.has(format) && !avoidsNativeCode;
  const name = await child.folder.take(source.path, { isKept });
  const end = await run({ path: name });
  // A child that hinders the removal of the file is killed, and its folder is removed as a whole.
  if (!end.isLost)
    await child.folder.drop(name).catch(() => {
      child.kill();
    });
  return end;
}
