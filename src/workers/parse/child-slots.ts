import { startParserChild, type ParserChild, type ParserChildOptions } from './child-process.js';
import { createFairQueue } from './fair-queue.js';

/** A place for a child process, which parses one document at a time. */
export interface Slot {
  /** Null when none is needed. */
  child: ParserChild | null;
  /** Number of documents that this child has begun. */
  documents: number;
  /** The origin of the files that this child has read with compiled code, which a file may take over; null for none. */
  exposedTo: string | null;
  /** Ends the child when no document comes. */
  idling: NodeJS.Timeout | undefined;
}

/** The need for a slot's child. */
interface Use {
  /** The caller who brought the file, or the content whose pages are rendered. */
  readonly origin: string;
  /** True if compiled code reads the file. */
  readonly isExposed: boolean;
}

interface ChildrenOptions extends ParserChildOptions {
  readonly size: number;
  /** A child that has had no document for so long ends. */
  readonly idleMilliseconds: number;
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export type Children = ReturnType<typeof createChildSlots>;

/**
 * The parser processes: up to `size` of them, and one more while short texts would wait for slow files. Each is started for
 * a document, and ends when no other one comes for a while, because it takes memory. A child that has read a file with
 * compiled code gets only files of the same origin from then on, so that a file that has taken it over sees no others.
 */
export function createChildSlots(options: ChildrenOptions) {
  const leftovers = new Set<Promise<void>>();
  const start = (): ParserChild => {
    const child = startParserChild(options);
    noteUntilRemoved(child, leftovers, options.logger);
    return child;
  };
  const slots = Array.from({ length: options.size }, createSlot);
  const spare = createSlot();
  let lastTaskId = 0;
  return {
    /**
     * Lends slots to tasks. Among slots that suit alike, the last used one is lent, so that children that are not needed
     * become idle.
     */
    queue: createFairQueue(slots, spare, suits),
    nextTaskId: (): number => (lastTaskId += 1),
    /** Returns the child of a slot for one more document. Starts one if there is none or it has exited. */
    runningIn: (slot: Slot, { origin, isExposed }: Use): ParserChild => {
      clearTimeout(slot.idling);
      if (slot.exposedTo !== null && slot.exposedTo !== origin) drop(slot);
      if (!slot.child?.isRunning()) {
        slot.child = start();
        slot.documents = 0;
        slot.exposedTo = null;
      }
      slot.documents += 1;
      if (isExposed) slot.exposedTo = origin;
      return slot.child;
    },
    /** Notes that the slot's document is over. */
    rest: (slot: Slot): void => {
      clearTimeout(slot.idling);
      if (slot.child) watchIdle(slot, slot.child, options.idleMilliseconds);
    },
    drop,
    /** Kills all children. */
    kill: (): void => {
      [...slots, spare].forEach(drop);
    },
    /** Resolves when the folders of all children are removed. */
    removed: async (): Promise<void> => {
      await Promise.allSettled(leftovers);
    },
  };
}

const createSlot = (): Slot => ({ child: null, documents: 0, exposedTo: null, idling: undefined });

/**
 * Rates a slot for a task. The best slot has a child that only files of this origin can use, and the worst one a child that
 * would have to be replaced.
 */
const suits = ({ exposedTo }: Slot, origin: string): number => {
  if (exposedTo === null) return 1;
  return exposedTo === origin ? 2 : 0;
};

/** Ends a child that gets no document for a while, or says something while it has none. */
function watchIdle(slot: Slot, child: ParserChild, idleMilliseconds: number): void {
  slot.idling = setTimeout(drop, idleMilliseconds, slot).unref();
  child.listen(() => {
    if (slot.child === child) drop(slot);
  });
}

/** Kills the child of a slot; its next document starts another one. */
function drop(slot: Slot): void {
  clearTimeout(slot.idling);
  slot.child?.kill();
  slot.child = null;
  slot.exposedTo = null;
}

function noteUntilRemoved(
  { removed }: ParserChild,
  leftovers: Set<Promise<void>>,
  logger: ChildrenOptions['logger'],
): void {
  leftovers.add(removed);
  removed
    .catch((error: unknown) => logger?.warn({ err: error }, 'files of a parser process not removed'))
    .finally(() => leftovers.delete(removed))
    .catch(() => undefined);
}
