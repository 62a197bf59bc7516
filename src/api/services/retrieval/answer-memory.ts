import { UnavailableError } from '../../../shared/errors.js';

/** Answers up to this size have a part of the memory that larger ones cannot take from them. */
const SMALL_BYTES = 256 * 1024;
/** Of the memory, how much all answers and those of one caller may take together. */
const SHARES = { small: { all: 1, own: 0.75 }, large: { all: 0.75, own: 0.5 } };
const WAIT_MILLISECONDS = 5_000;

export interface Wanted {
  readonly callerId: string;
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Lease {
  /** The answer turned out to hold more or less; nobody is turned away for that, only kept waiting. */
  resize(bytes: number): void;
  /** May be called again. */
  release(): void;
}

/** Memory of this process for what answers hold until their clients have taken it. */
export interface AnswerMemory {
  /** Waits a while for room, in the order of asking. @throws UnavailableError when none comes */
  reserve(wanted: Wanted): Promise<Lease>;
  /** For what is there already: counted, never refused. */
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

  const hold: AnswerMemory['hold'] = (wanted) => holdIn(room, wanted);

  const reserve: AnswerMemory['reserve'] = ({ callerId, bytes: wanted, signal }) =>
    new Promise((resolve, reject) => {
      // What is larger than a caller's share comes when the caller has nothing else.
      const bytes = Math.min(wanted, Math.floor(limitBytes * SHARES.large.own));
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
          resolve(hold({ callerId, bytes }));
        },
      };
      signal?.addEventListener('abort', onAbort);
      room.enter(waiter);
      if (signal?.aborted === true) onAbort();
      else room.admit();
    });

  return { hold, reserve, figures: room.figures };
}

type Room = ReturnType<typeof createRoom>;

/** Counts what is held, in all and by caller, and grants room to those who wait for it in their order. */
function createRoom(limitBytes: number) {
  let held = 0;
  const byCaller = new Map<string, number>();
  const waiting = new Set<Waiter>();

  /** Who waits for others of the same caller lets everybody else pass. */
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
