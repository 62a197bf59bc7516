import { UnavailableError } from '../../../shared/errors.js';

/** A part of the memory is reserved for answers up to this size. */
const SMALL_BYTES = 256 * 1024;
/** Shares of the memory that all answers together, and those of one caller, may take. */
const SHARES = { small: { all: 1, own: 0.75 }, large: { all: 0.75, own: 0.5 } };
const WAIT_MILLISECONDS = 5_000;

export interface Wanted {
  readonly callerId: string;
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Lease {
  /** Changes the size once it is known. This is never refused; other callers may have to wait for it. */
  resize(bytes: number): void;
  /** Calling it again does nothing. */
  release(): void;
}

/** Limits the memory of this process that answers hold until their clients have received them. */
export interface AnswerMemory {
  /** Waits for memory, first come, first served. @throws UnavailableError when none becomes free in time */
  reserve(wanted: Wanted): Promise<Lease>;
  /** Counts memory that is already in use. It is never refused. */
  hold(wanted: Omit<Wanted, 'signal'>): Lease;
  figures(): { readonly held: number; readonly waiting: number };
}

interface Waiter {
  readonly callerId: string;
  readonly bytes: number;
  readonly grant: () => void;
}

export function createAnswerMemory({
  limitBytes,
  waitMilliseconds = WAIT_MILLISECONDS,
}: {
  readonly limitBytes: number;
  readonly waitMilliseconds?: number;
}): AnswerMemory {
  const room = createRoom(limitBytes);
  // An answer that is larger than the caller's share is admitted when the caller holds nothing else.
  const maxBytes = Math.floor(limitBytes * SHARES.large.own);
  return {
    hold: (wanted) => holdIn(room, wanted),
    reserve: ({ bytes, ...wanted }) =>
      waitForRoom(room, { ...wanted, bytes: Math.min(bytes, maxBytes) }, waitMilliseconds),
    figures: room.figures,
  };
}

function waitForRoom(
  room: Room,
  { callerId, bytes, signal }: Wanted,
  waitMilliseconds: number,
): Promise<Lease> {
  return new Promise((resolve, reject) => {
    const leave = (error: unknown) => {
      stopWaiting();
      reject(error instanceof Error ? error : new Error('aborted', { cause: error }));
    };
    const onAbort = () => {
      leave(signal?.reason);
    };
    const timer = setTimeout(() => {
      leave(new UnavailableError('memory for large answers', { retryAfterSeconds: 5 }));
    }, waitMilliseconds);
    const stopWaiting = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      room.leave(waiter);
    };
    const waiter: Waiter = {
      callerId,
      bytes,
      grant: () => {
        stopWaiting();
        resolve(holdIn(room, { callerId, bytes }));
      },
    };
    signal?.addEventListener('abort', onAbort);
    room.enter(waiter);
    if (signal?.aborted === true) onAbort();
    else room.admit();
  });
}

type Room = ReturnType<typeof createRoom>;

/** Counts the memory in use, in all and by caller, and grants memory to waiting answers in their order. */
function createRoom(limitBytes: number) {
  let held = 0;
  const byCaller = new Map<string, number>();
  const waiting = new Set<Waiter>();

  /** Grants memory where it fits. Answers that wait for others of the same caller do not hold up other callers. */
  const admit = () => {
    let isFull = false;
    for (const waiter of waiting) {
      const share = waiter.bytes <= SMALL_BYTES ? SHARES.small : SHARES.large;
      if (isFull && share === SHARES.large) continue;
      const own = byCaller.get(waiter.callerId) ?? 0;
      if (own + waiter.bytes > limitBytes * share.own) continue;
      if (held + waiter.bytes <= limitBytes * share.all) {
        waiting.delete(waiter);
        waiter.grant();
      } else isFull ||= share === SHARES.large;
    }
  };

  return {
    admit,
    change: (callerId: string, by: number) => {
      held += by;
      const own = (byCaller.get(callerId) ?? 0) + by;
      if (own === 0) byCaller.delete(callerId);
      else byCaller.set(callerId, own);
      if (by < 0) admit();
    },
    enter: (waiter: Waiter) => waiting.add(waiter),
    leave: (waiter: Waiter) => waiting.delete(waiter),
    figures: () => ({ held, waiting: waiting.size }),
  };
}

function holdIn(room: Room, { callerId, bytes }: Omit<Wanted, 'signal'>): Lease {
  let current: number | null = bytes;
  room.change(callerId, bytes);
  return {
    resize: (next) => {
      if (current === null) return;
      const by = next - current;
      current = next;
      room.change(callerId, by);
    },
    release: () => {
      if (current === null) return;
      const by = -current;
      current = null;
      room.change(callerId, by);
    },
  };
}
