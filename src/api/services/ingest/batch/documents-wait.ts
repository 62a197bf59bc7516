import { isFinal, type DocumentState } from '../../../../shared/document.js';
import type { Records } from '../../../../shared/documents/records.js';
import type { Logger } from '../../../../shared/observability/logger.js';
import type { ChangeWaiter } from '../waits.js';

/** Waits for many documents with one deadline. */
export interface DocumentsWait {
  /** Begins to listen for changes of new documents. Called before a worker can know of them. */
  add(ids: readonly string[]): void;
  /** The same for documents that were there before, and may be done already. */
  addKnown(ids: readonly string[]): void;
  /**
   * Resolves with the state of a document that was added, once that is final or the wait is over; with null when it was
   * deleted, and with undefined when nothing is known of it. Is called once for each time that it was added. Never rejects.
   */
  stateOf(id: string): Promise<DocumentState | null | undefined>;
  /** Ends the wait. */
  close(): void;
}

export interface DocumentsWaitParts {
  readonly records: Pick<Records, 'readStates' | 'findFinished'>;
  readonly waiter: ChangeWaiter;
  readonly logger: Logger;
  readonly milliseconds: number;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
}

/** A message may be lost while the connection is down. Then a change is noticed after this time at the latest. */
const POLL_MILLISECONDS = 1_000;
/** Changes that come within this time are read together. */
const GATHER_MILLISECONDS = 4;

interface Waiting {
  /** The number of items that wait for the document. */
  items: number;
  readonly promise: Promise<DocumentState | null | undefined>;
  readonly resolve: (state: DocumentState | null | undefined) => void;
  readonly stopListening: () => void;
}

export function createDocumentsWait(parts: DocumentsWaitParts): DocumentsWait {
  const { waiter } = parts;
  const waiting = new Map<string, Waiting>();
  const look = createLook(parts, waiting);
  const gather = createGathering((ids) => void look(ids));
  const limit = limitWait(parts, {
    onPoll: () => void poll(parts, [...waiting.keys()]).then(gather),
    // The states by now are the answer, final or not.
    onEnd: () => void look([...waiting.keys()], { isLast: true }),
  });
  const add = (ids: readonly string[]) => {
    if (limit.isOver()) return;
    for (const id of ids) {
      const known = waiting.get(id);
      if (known) known.items += 1;
      else waiting.set(id, createWaiting(waiter.listen(id, () => gather([id]))));
    }
  };
  return {
    add,
    addKnown: (ids) => {
      add(ids);
      if (!limit.isOver()) gather(ids);
    },
    stateOf: async (id) => {
      const known = waiting.get(id);
      if (!known) return undefined;
      const state = await known.promise;
      known.items -= 1;
      if (known.items === 0) waiting.delete(id);
      return state;
    },
    close: limit.end,
  };
}

/** Finds the documents that are done although nobody said so. Never rejects. */
async function poll(
  { records, logger }: DocumentsWaitParts,
  ids: readonly string[],
): Promise<readonly string[]> {
  try {
    return await records.findFinished(ids);
  } catch (error) {
    logger.warn({ err: error }, 'states of the documents of a batch cannot be read');
    return [];
  }
}

/** Calls `take` with the ids that were given within some milliseconds. */
function createGathering(take: (ids: readonly string[]) => void) {
  const gathered = new Set<string>();
  return (ids: readonly string[]): void => {
    if (gathered.size === 0 && ids.length > 0) {
      setTimeout(() => {
        const all = [...gathered];
        gathered.clear();
        take(all);
      }, GATHER_MILLISECONDS);
    }
    for (const id of ids) gathered.add(id);
  };
}

/** Ends a wait at its deadline, when the caller goes away, or when the process stops. */
function limitWait(
  { waiter, milliseconds, signal }: DocumentsWaitParts,
  { onPoll, onEnd }: { readonly onPoll: () => void; readonly onEnd: () => void },
) {
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(polling);
    clearTimeout(deadline);
    for (const each of [signal, waiter.stopping]) each.removeEventListener('abort', end);
    onEnd();
  };
  const polling = setInterval(onPoll, POLL_MILLISECONDS);
  const deadline = setTimeout(end, milliseconds);
  for (const each of [signal, waiter.stopping]) each.addEventListener('abort', end, { once: true });
  if (signal.aborted || waiter.stopping.aborted || milliseconds === 0) end();
  return { end, isOver: () => isOver };
}

function createWaiting(stopListening: () => void): Waiting {
  let resolve: Waiting['resolve'] = () => undefined;
  const promise = new Promise<DocumentState | null | undefined>((settle) => {
    resolve = settle;
  });
  return { items: 1, promise, resolve, stopListening };
}

/** Reads the states of documents, and ends the waits for final ones; with `isLast`, all of them. */
function createLook({ records, logger }: DocumentsWaitParts, waiting: ReadonlyMap<string, Waiting>) {
  return async (ids: readonly string[], { isLast = false } = {}): Promise<void> => {
    const open = ids.filter((id) => waiting.has(id));
    const states = await records.readStates(open).catch((error: unknown) => {
      // The documents are stored and their work goes on. An error would make the client send them again.
      logger.warn({ err: error }, 'states of the documents of a batch cannot be read');
      return [];
    });
    for (const [i, id] of open.entries()) {
      const state = states[i];
      const isDone = state === null || (state !== undefined && isFinal(state));
      if (!isDone && !isLast) continue;
      waiting.get(id)?.stopListening();
      waiting.get(id)?.resolve(state);
    }
  };
}
