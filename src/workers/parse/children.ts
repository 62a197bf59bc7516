import { startParserChild, type ParserChild, type ParserChildOptions } from './child-process.js';
import { createFairQueue } from './fair-queue.js';

/** A place for a child process, which reads one document at a time. */
export interface Slot {
  /** Null where none was needed so far. */
  child: ParserChild | null;
  /** How many documents this child has begun. */
  documents: number;
}

interface ChildrenOptions extends ParserChildOptions {
  readonly size: number;
  readonly logger?: { warn(fields: Record<string, unknown>, message: string): void } | undefined;
}

export type Children = ReturnType<typeof createChildren>;

/** The parser processes: as many as `size`, one more when short texts wait for slow files. */
export function createChildren(options: ChildrenOptions) {
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
    /** Who has which slot. */
    queue: createFairQueue(slots, spare),
    nextTaskId: (): number => (lastTaskId += 1),
    /** The child of a slot for one more document; another one where it has died meanwhile. */
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
    /** Kills all; none is started in their places any more. */
    kill: (): void => {
      isClosed = true;
      for (const { child } of [...slots, spare]) child?.kill();
    },
    /** Resolves when nothing is left of the children that were killed. */
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
