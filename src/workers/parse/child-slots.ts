import { startParserChild, type ParserChild, type ParserChildOptions } from './child-process.js';
import { createFairQueue } from './fair-queue.js';

/** A place for a child process, which parses one document at a time. */
export interface Slot {
  /** Null when none is needed. */
  child: ParserChild | null;
  /** Number of documents that this child has begun. */
  documents: number;
  /** Whose files this child has read with compiled code, which a file may take over; null when there were none. */
  exposedTo: string | null;
  /** Ends the child when no document comes. */
  idling: NodeJS.Timeout | undefined;
}

/** What a slot's child is needed for. */
interface Use {
  /** Who brought the file. A file can only take over a child for files of the same origin. */
  readonly origin: string;
  /** Whether compiled code reads the file. */
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
 * a document, and ends when no other one comes for a while, because it takes memory. No child gets a file of another origin
 * than one that it has read with compiled code: a file that takes it over gets at nothing of others.
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
    /** Lends slots to tasks. One that was used last is lent first, so that children which are not needed become idle. */
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

/** A child that was exposed to the caller's files is of no use to others, and one that was exposed to others' of none here. */
const suits = ({ exposedTo }: Slot, callerId: string): number => {
  if (exposedTo === null) return 1;
  return exposedTo === callerId ? 2 : 0;
};

/** Ends a child that gets no document for a while, or says something: who has nothing to do has nothing to say. */
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
