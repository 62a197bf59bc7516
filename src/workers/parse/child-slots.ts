import { startParserChild, type ParserChild, type ParserChildOptions } from './child-process.js';
import { createFairQueue } from './fair-queue.js';

/** A place for a child process, which parses one document at a time. */
export interface Slot {
  /** Null when none has been needed yet. */
  child: ParserChild | null;
  /** Number of documents that this child has begun. */
  documents: number;
}

interface ChildrenOptions extends ParserChildOptions {
  readonly size: number;
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export type Children = ReturnType<typeof createChildSlots>;

/** The parser processes: `size` of them, and one more while short texts would wait for slow files. */
export function createChildSlots(options: ChildrenOptions) {
  const leftovers = new Set<Promise<void>>();
  const start = (): ParserChild => {
    const child = startParserChild(options);
    noteUntilRemoved(child, leftovers, options.logger);
    return child;
  };
  const slots: Slot[] = Array.from({ length: options.size }, () => ({ child: start(), documents: 0 }));
  const spare: Slot = { child: null, documents: 0 };
  let isClosed = false;
  let lastTaskId = 0;
  return {
    /** Lends slots to tasks. */
    queue: createFairQueue(slots, spare),
    nextTaskId: (): number => (lastTaskId += 1),
    /** Returns the child of a slot for one more document. Starts a new one if it has exited. */
    runningIn: (slot: Slot): ParserChild => {
      if (!slot.child?.isRunning()) {
        slot.child = start();
        slot.documents = 0;
      }
      slot.documents += 1;
      return slot.child;
    },
    replace: (slot: Slot): void => {
      slot.child?.kill();
      slot.documents = 0;
      slot.child = isClosed ? null : start();
    },
    /** Kills all children; no new ones are started. */
    kill: (): void => {
      isClosed = true;
      for (const { child } of [...slots, spare]) child?.kill();
    },
    /** Resolves when the folders of all children are removed. */
    removed: async (): Promise<void> => {
      await Promise.allSettled(leftovers);
    },
  };
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
