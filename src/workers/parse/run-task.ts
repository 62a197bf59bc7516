import { stat } from 'node:fs/promises';
import { factsOf, type FileFormat } from '../../readers/index.js';
import { isQuick as isQuickFile } from '../../shared/queues/job-kinds.js';
import { createGivingWay } from '../../shared/fair-scheduling/giving-way.js';
import type { ParserChild } from './child-process.js';
import type { Children, Slot } from './child-slots.js';
import { FIRST_TURN_MILLISECONDS } from './fair-queue.js';
import type { ParseTask, RenderTask } from './protocol.js';
import { runInChild, type RunLimits, type TaskEnd } from './run-in-child.js';
import { takeAttachments } from './take-attachments.js';

/** The number of documents after which a child is replaced, which limits memory that libraries leak. */
const DOCUMENTS_PER_CHILD = 10_000;
/** The formats that can be read without the compiled code that a child has crashed in. */
const ALSO_WITHOUT_NATIVE: ReadonlySet<FileFormat> = new Set(['pdf']);

type NewTask = Omit<ParseTask, 'id'> | Omit<RenderTask, 'id'>;

export interface TaskParts {
  readonly options: {
    readonly memoryMegabytes: number;
    readonly timeoutMilliseconds: number;
    readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
  };
  readonly children: Children;
  /** Aborts when the pool is closed. */
  readonly ending: AbortSignal;
}

interface TaskRequest {
  readonly callerId: string;
  /** The caller who brought the file, or the content whose pages are rendered; see `createChildSlots`. */
  readonly origin: string;
  readonly signal: AbortSignal | undefined;
  readonly onProgress?: RunLimits['onProgress'];
  /** After how long it is given up for another caller's task that waits; never without it. */
  readonly givesWayAfter?: number | undefined;
}

/**
 * Has a child work off one task. Ends the child if it is lost, uses much memory, or has parsed many documents.
 * @throws GaveWayError when it was given up for another caller's task
 */
export async function runTask(parts: TaskParts, task: NewTask, request: TaskRequest): Promise<TaskEnd> {
  const { children, ending } = parts;
  const { callerId, origin, signal, givesWayAfter = Infinity } = request;
  const sourceSize = await sizeOf(task);
  const isQuick = 'format' in task && isQuickFile(task.format, sourceSize);
  const lent = await children.queue.take({ isQuick, callerId, origin, signal });
  const start = performance.now();
  let prepared = Infinity;
  const isWanted = () => lent.isWanted(givesWayAfter, prepared);
  const turn = createGivingWay({ milliseconds: FIRST_TURN_MILLISECONDS, isWanted, signal });
  const onReady = () => {
    prepared = Math.min(prepared, performance.now() - start);
  };
  try {
    throwIfEnded(signal, ending);
    return await runInSlot(parts, task, {
      ...request,
      slot: lent.item,
      sourceSize,
      onReady,
      signal: turn.signal,
    });
  } finally {
    turn.clear();
    children.rest(lent.item);
    lent.giveBack();
  }
}

interface SlotRequest extends TaskRequest {
  readonly slot: Slot;
  readonly sourceSize: number;
  /** Called when the child has started. */
  readonly onReady: () => void;
}

/** Has the child of a slot work off a task, and again when something else may have crashed it. */
async function runInSlot(
  parts: TaskParts,
  task: NewTask,
  { slot, origin, signal, onProgress, onReady, sourceSize }: SlotRequest,
): Promise<TaskEnd> {
  const { timeoutMilliseconds } = parts.options;
  const limits = { signal, onProgress, sourceSize };
  const ends = performance.now() + timeoutMilliseconds;
  const run = async (given: NewTask): Promise<SlotEnd> => {
    const left = Math.max(1, ends - performance.now());
    return await runIn(slot, given, {
      parts,
      origin,
      onReady,
      limits: { ...limits, timeoutMilliseconds: left },
    });
  };
  let end = await run(task);
  // A child can crash of a file that it read before, for instance by memory that compiled code has broken or kept.
  if (end.isCrash && slot.documents > 1 && end.isExposed) end = await run(task);
  if (end.isCrash && isReadWithoutNative(task)) end = await run({ ...task, avoidsNativeCode: true });
  if (end.error === undefined) return end;
  throw end.error;
}

interface SlotEnd extends TaskEnd {
  /** True if the child has read a file with compiled code: this one, or one before. */
  readonly isExposed: boolean;
}

async function runIn(
  slot: Slot,
  task: NewTask,
  {
    parts,
    origin,
    onReady,
    limits,
  }: Pick<SlotRequest, 'origin' | 'onReady'> & { parts: TaskParts; limits: RunLimits },
): Promise<SlotEnd> {
  const { options, children, ending } = parts;
  const child = children.runningIn(slot, {
    origin,
    isExposed: isReadByNative(task),
  });
  void child.ready.then(onReady);
  const isExposed = slot.exposedTo !== null;
  const end = await withFile(child, { task, isKept: isExposed }, async (given) => {
    const run = await runInChild(child, { ...given, id: children.nextTaskId() }, limits);
    return takeAttachments(child.folder, run, 'format' in task ? task.attachments : undefined);
  });
  const isHeavy = end.residentBytes > (options.memoryMegabytes * 1_048_576) / 3;
  if (end.isLost || isHeavy || slot.documents >= DOCUMENTS_PER_CHILD) children.drop(slot);
  // The caller gets the attachments read so far even when it has aborted meanwhile, since it removes them.
  if (end.error !== undefined) throwIfEnded(limits.signal, ending);
  if (end.isLost)
    options.logger?.warn(
      { format: 'format' in task ? task.format : 'page', reason: end.error?.message },
      'parser process lost',
    );
  return { ...end, isExposed };
}

export function throwIfEnded(signal: AbortSignal | undefined, ending: AbortSignal): void {
  signal?.throwIfAborted();
  ending.throwIfAborted();
}

/** Tells whether compiled code reads the file. */
const isReadByNative = (task: NewTask): boolean => !('format' in task) || factsOf(task.format).isNative;

const isReadWithoutNative = (task: NewTask): task is Omit<ParseTask, 'id'> =>
  'format' in task && ALSO_WITHOUT_NATIVE.has(task.format);

/** The size of the file, or the length of the text, that is to be read. */
async function sizeOf({ source }: NewTask): Promise<number> {
  return 'text' in source ? source.text.length : (await stat(source.path)).size;
}

/** Puts a file into the child's folder while `run` runs, which gets its name there. It is kept where it may be read again. */
async function withFile(
  child: ParserChild,
  { task, isKept }: { task: NewTask; isKept: boolean },
  run: (task: NewTask) => Promise<TaskEnd>,
): Promise<TaskEnd> {
  if ('text' in task.source) return await run(task);
  const name = await child.folder.take(task.source.path, { isKept });
  const end = await run({ ...task, source: { path: name } });
  // A child that hinders the removal of the file is killed, and its folder is removed as a whole.
  if (!end.isLost)
    await child.folder.drop(name).catch(() => {
      child.kill();
    });
  return end;
}
