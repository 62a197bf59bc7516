import type { DocumentRecord, DocumentState } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import { waitForRedis } from '../../../shared/redis/open.js';
import { createTally } from '../../../shared/tools/tally.js';
import { beginSpan } from '../../../shared/tracing/tracing.js';
import { heldByRecord } from '../answer-memory/answer-memory.js';
import type { RequestContext } from '../request-context.js';

export interface Wait<Value> {
  /** The id whose changes wake the wait: a document's id, or another value that is published to the same channel. */
  readonly id: string;
  readonly read: () => Promise<Value>;
  /** The current value, when the caller knows that nothing can have changed it yet. It saves the first read. */
  readonly known?: Value;
  readonly isDone: (value: Value) => boolean;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

export interface ChangeWaiter {
  /** Resolves with the last value that was read: it is done, or the time is over, or the signal has aborted. */
  waitFor<Value>(wait: Wait<Value>): Promise<Value>;
  /** Calls `wake` at each change of a document. Returns a function that ends this. */
  listen(id: string, wake: () => void): () => void;
  /** Aborts when the process stops, which ends all waits. */
  readonly stopping: AbortSignal;
  close(): void;
}

/** A message may be lost while the connection is down. Then the change is noticed after this time at the latest. */
const POLL_MILLISECONDS = 1_000;

/**
 * Waits for changes over one Redis subscription, however many requests wait.
 *
 * @param stopping ends all waits, so that a process that stops can still answer the requests
 */
export async function createChangeWaiter(
  redis: Redis,
  onError: (error: Error) => void,
  stopping: AbortSignal = new AbortController().signal,
): Promise<ChangeWaiter> {
  const listeners = createListeners();
  const subscriber = redis.duplicate();
  subscriber.on('error', onError);
  try {
    await subscriber.connect();
    await subscriber.subscribe(keys.changed, listeners.wake);
  } catch (error) {
    subscriber.destroy();
    throw error;
  }
  return {
    stopping,
    listen: listeners.add,
    waitFor: async (wait) => {
      const bell = createBell();
      // Listening begins before the first read, so that no change falls between the two.
      const stopListening = listeners.add(wait.id, bell.ring);
      for (const each of [wait.signal, stopping]) each.addEventListener('abort', bell.ring, { once: true });
      try {
        return await readUntilDone(wait, bell, stopping);
      } finally {
        stopListening();
        for (const each of [wait.signal, stopping]) each.removeEventListener('abort', bell.ring);
      }
    },
    close: () => {
      subscriber.destroy();
    },
  };
}

/** The same for a process that starts: Redis may go away between the connection and the subscription, and is waited for. */
export function openChangeWaiter(
  redis: Redis,
  onError: (error: Error) => void,
  waiting: { readonly logger: Pick<Logger, 'warn'>; readonly signal: AbortSignal },
): Promise<ChangeWaiter> {
  return waitForRedis(() => createChangeWaiter(redis, onError, waiting.signal), waiting);
}

async function readUntilDone<Value>(
  { read, known, isDone, milliseconds, signal }: Wait<Value>,
  bell: Bell,
  stopping: AbortSignal,
): Promise<Value> {
  const end = performance.now() + milliseconds;
  for (let first = known; ; first = undefined) {
    const value = first ?? (await read());
    const left = end - performance.now();
    if (isDone(value) || left <= 0 || signal.aborted || stopping.aborted) return value;
    // Timers drop fractions of a millisecond and may be a little early: an early one costs another read.
    await bell.heard(Math.min(Math.ceil(left) + 1, POLL_MILLISECONDS));
  }
}

/** The waits for each id. */
function createListeners() {
  const byId = new Map<string, Set<() => void>>();
  return {
    wake: (message: string): void => {
      for (const wake of byId.get(message) ?? []) wake();
      // Documents that were published together are named by one message.
      if (!message.includes(',')) return;
      for (const id of message.split(',')) for (const wake of byId.get(id) ?? []) wake();
    },
    /** Returns a function that removes the listener. */
    add: (id: string, wake: () => void): (() => void) => {
      const others = byId.get(id) ?? new Set();
      byId.set(id, others.add(wake));
      return () => {
        others.delete(wake);
        if (others.size === 0) byId.delete(id);
      };
    },
  };
}

type Bell = ReturnType<typeof createBell>;

/** `heard` waits for `ring`. A ring that comes earlier is remembered. */
function createBell() {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      rung = true;
      wake?.();
    },
    heard: async (milliseconds: number): Promise<void> => {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
      wake = null;
    },
  };
}

interface WaitOptions extends WaitLimits, Pick<RequestContext, 'callerId' | 'signal'> {
  /** True when nobody else can have changed the record yet; then it is not read before the first change. */
  readonly isNew?: boolean;
}

export type IsDone = (state: DocumentState) => boolean;

/** Waits until `isDone` is true for a document. Resolves with its record after that; null when it was deleted. */
export type WaitForDocument = (
  record: DocumentRecord,
  isDone: IsDone,
  options: WaitOptions,
) => Promise<DocumentRecord | null>;

/** A document that is stored and waited for. It references the record, and nothing else of the request. */
export interface AwaitedDocument {
  /** Memory that the wait holds. */
  readonly heldBytes: number;
  readonly settled: Promise<DocumentRecord | null>;
}

/** Begins to wait, if there is a record. The returned promise never rejects. */
export function beginToWait(
  waitForDocument: WaitForDocument,
  record: DocumentRecord | null,
  { isDone, ...options }: WaitOptions & { isDone: IsDone },
): AwaitedDocument {
  if (!record) return { heldBytes: 0, settled: Promise.resolve(null) };
  const settled = waitForDocument(record, isDone, options);
  return { heldBytes: heldByRecord(record), settled };
}

/** A record that holds at most this much is read whole at each change, which saves a round trip. */
const SMALL_BYTES = 32 * 1024;
/** Larger records that one caller, and all callers, may have held while they wait. Whoever has more is answered without a wait. */
const CALLER_BYTES = 32 * 1024 ** 2;
const ALL_BYTES = 128 * 1024 ** 2;

interface WaitForDocumentParts {
  readonly records: Pick<Records, 'read' | 'readState' | 'inTurn'>;
  readonly waiter: ChangeWaiter;
  readonly logger: Logger;
  /** The time that callers wait who do not state one. */
  readonly waitSeconds: number;
}

export function createWaitForDocument(parts: WaitForDocumentParts): WaitForDocument {
  const { records, waiter, logger, waitSeconds: usualSeconds } = parts;
  const room = createWaitRoom();
  return async (record, isDone, { callerId, signal, isNew = false, ...limits }) => {
    const milliseconds = waitMilliseconds(limits, usualSeconds);
    if (milliseconds === 0 || isDone(record)) return record;
    const bytes = heldByRecord(record);
    // A whole record may be a megabyte of access lists, so such a one is read once, at the end.
    const isSmall = bytes <= SMALL_BYTES;
    if (!isSmall && !room.enter(callerId, bytes)) return record;
    const wait = {
      id: record.id,
      ...(isNew ? { known: record } : {}),
      isDone: (current: DocumentState | null) => current === null || isDone(current),
      milliseconds,
      signal,
    };
    const span = beginSpan('wait for document', { attributes: { 'quire.document.id': record.id } });
    try {
      const read = () => records.inTurn(callerId, () => records.read(record.id));
      if (isSmall) return await waiter.waitFor<DocumentRecord | null>({ ...wait, read });
      const end = await waitByState(parts, wait);
      return signal.aborted || end === record ? record : end && (await read());
    } catch (error) {
      // The request is stored and its work goes on. An error would make the client send it again.
      logger.warn({ err: error, documentId: record.id }, 'wait for a document broke off');
      span.fail(error);
      return record;
    } finally {
      if (!isSmall) room.leave(callerId, bytes);
      span.end();
    }
  };
}

/** Waits for a document, and reads of its record only the fields that tell the end. */
const waitByState = (
  { records, waiter }: WaitForDocumentParts,
  wait: Omit<Wait<DocumentState | null>, 'read'>,
): Promise<DocumentState | null> => waiter.waitFor({ ...wait, read: () => records.readState(wait.id) });

/** Counts the bytes of the large records that are held by waits. */
function createWaitRoom() {
  const byCaller = createTally();
  let held = 0;
  const count = (callerId: string, bytes: number) => {
    byCaller.add(callerId, bytes);
    held += bytes;
  };
  return {
    /** Returns false, and counts nothing, where there is no room. */
    enter: (callerId: string, bytes: number): boolean => {
      const hasRoom = byCaller.of(callerId) + bytes <= CALLER_BYTES && held + bytes <= ALL_BYTES;
      if (hasRoom) count(callerId, bytes);
      return hasRoom;
    },
    leave: (callerId: string, bytes: number): void => {
      count(callerId, -bytes);
    },
  };
}

/** The limits of a caller's wait. */
export type WaitLimits = Pick<RequestContext, 'waitSeconds' | 'expiresAtMs'>;

/** Returns the time that a caller waits from now on. @param usualSeconds for callers that do not state it */
export function waitMilliseconds(
  { waitSeconds, expiresAtMs = Infinity }: WaitLimits,
  usualSeconds: number,
): number {
  return Math.max(0, Math.min((waitSeconds ?? usualSeconds) * 1_000, expiresAtMs - Date.now()));
}
