import { toError, UnavailableError } from '../../../shared/errors.js';
import { createTally } from '../../../shared/tools/tally.js';
import { createAnswerLines, type Pass, type Waiter } from './waiting-answers.js';

/** A part of the memory is reserved for answers up to this size. */
const SMALL_BYTES = 256 * 1024;
/** The last part of the memory is reserved for callers who hold at most this much. */
const FIRST_BYTES = 256 * 1024;
/** Shares of the memory that all answers together, and those of one caller, may take. */
const SHARES = {
  first: { all: 1, own: 0 },
  begun: { all: 7 / 8, own: 5 / 8 },
  small: { all: 7 / 8, own: 5 / 8 },
  large: { all: 3 / 4, own: 1 / 2 },
} as const;
const WAIT_MILLISECONDS = 5_000;
/** Answers of one caller that may wait. */
const MAX_WAITING = 100;

export interface Wanted {
  readonly callerId: string;
  readonly bytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Lease {
  /** Changes the size. Returns false, and changes nothing, if there is no room for it now. */
  resize(bytes: number): boolean;
  /**
   * Gives back what the lease has, which the caller must have dropped, and waits for another size. It comes before
   * answers that have nothing yet. If something was sent already, it waits without end.
   * @throws UnavailableError when no memory becomes free in time
   */
  exchange(wanted: Omit<Wanted, 'callerId'> & { readonly isSent: boolean }): Promise<void>;
  /** Calling it again does nothing. */
  release(): void;
}

/** Limits the memory of this process that answers hold until their clients have received them. */
export interface AnswerMemory {
  /** Waits for memory, callers in turn. @throws UnavailableError when none becomes free in time, or too many wait */
  reserve(wanted: Wanted): Promise<Lease>;
  /** Counts memory that is already in use, as far as the caller's share goes. It is never refused. */
  hold(wanted: Omit<Wanted, 'signal'>): Lease;
  figures(): { readonly held: number; readonly waiting: number };
}

export function createAnswerMemory({
  limitBytes,
  waitMilliseconds = WAIT_MILLISECONDS,
}: {
  readonly limitBytes: number;
  readonly waitMilliseconds?: number;
}): AnswerMemory {
  const room = createRoom(limitBytes);
  return {
    reserve: async ({ callerId, bytes: wanted, signal }) => {
      const bytes = room.capped(wanted);
      const kind = bytes <= SMALL_BYTES ? 'small' : 'large';
      await wait(room, { callerId, bytes, kind }, { signal, waitMilliseconds });
      return createLease(room, { callerId, bytes, waitMilliseconds });
    },
    hold: ({ callerId, bytes: wanted }) => {
      const bytes = Math.min(wanted, room.leftFor(callerId));
      room.change(callerId, bytes);
      return createLease(room, { callerId, bytes, waitMilliseconds });
    },
    figures: room.figures,
  };
}

type Room = ReturnType<typeof createRoom>;

/** Counts what is held, in all and by caller, and lets in those who wait. */
function createRoom(limitBytes: number) {
  let held = 0;
  const byCaller = createTally();
  const hasRoom = ({ bytes }: Pick<Waiter, 'bytes'>, pass: Pass) =>
    held + bytes <= limitBytes * SHARES[pass].all;
  const passOf = ({ callerId, bytes, kind }: Omit<Waiter, 'grant'>): Pass | null => {
    const own = byCaller.of(callerId) + bytes;
    if (own <= FIRST_BYTES) return 'first';
    return own <= limitBytes * SHARES[kind].own ? kind : null;
  };
  const lines = createAnswerLines({ passOf, hasRoom });
  const admit = () => {
    while (lines.callNext());
  };

  return {
    lines,
    admit,
    /** What is larger than a caller's share comes when the caller has nothing else, and counts as that share. */
    capped: (bytes: number) => Math.min(bytes, Math.floor(limitBytes * SHARES.large.own)),
    fits: (asked: Omit<Waiter, 'grant'>) => {
      const pass = passOf(asked);
      return pass !== null && hasRoom(asked, pass);
    },
    leftFor: (callerId: string) => {
      const { own, all } = SHARES.begun;
      const left = Math.min(limitBytes * own - byCaller.of(callerId), limitBytes * all - held);
      return Math.max(0, Math.floor(left));
    },
    change: (callerId: string, by: number) => {
      held += by;
      byCaller.add(callerId, by);
      lines.update(callerId);
      if (by < 0) admit();
    },
    figures: () => ({ held, waiting: lines.waiting }),
  };
}

interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** null: as long as it takes. */
  readonly waitMilliseconds: number | null;
}

/** Resolves when there is room, which is then counted. */
function wait(room: Room, asked: Omit<Waiter, 'grant'>, { signal, waitMilliseconds }: Patience) {
  return new Promise<void>((resolve, reject) => {
    const { lines } = room;
    const stopWaiting = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      lines.leave(waiter);
    };
    const refuse = (error: unknown) => {
      stopWaiting();
      reject(toError(error));
      // Somebody may have stood behind it.
      room.admit();
    };
    const onAbort = () => {
      refuse(signal?.reason);
    };
    const refuseForNow = () => {
      refuse(new UnavailableError('memory for large answers', { retryAfterSeconds: 5 }));
    };
    const timer = waitMilliseconds === null ? undefined : setTimeout(refuseForNow, waitMilliseconds);
    const state = { isWaiting: true };
    const waiter: Waiter = {
      ...asked,
      grant: () => {
        state.isWaiting = false;
        stopWaiting();
        room.change(asked.callerId, asked.bytes);
        resolve();
      },
    };
    signal?.addEventListener('abort', onAbort);
    lines.enter(waiter);
    if (signal?.aborted === true) {
      onAbort();
      return;
    }
    room.admit();
    if (state.isWaiting && asked.kind !== 'begun' && lines.waitingOf(asked.callerId) > MAX_WAITING)
      refuseForNow();
  });
}

/** @param options.bytes what was counted for it already */
function createLease(
  room: Room,
  options: { readonly callerId: string; readonly bytes: number; readonly waitMilliseconds: number },
): Lease {
  const { callerId } = options;
  let current = options.bytes;
  let isReleased = false;
  const set = (bytes: number) => {
    const by = bytes - current;
    current = bytes;
    if (by !== 0) room.change(callerId, by);
  };
  const resize = (wanted: number) => {
    const bytes = room.capped(wanted);
    if (isReleased) return true;
    if (bytes > current && !room.fits({ callerId, bytes: bytes - current, kind: 'begun' })) return false;
    set(bytes);
    return true;
  };
  return {
    resize,
    exchange: async ({ bytes: wanted, signal, isSent }) => {
      if (resize(wanted)) return;
      const bytes = room.capped(wanted);
      const waitMilliseconds = isSent ? null : options.waitMilliseconds;
      // It stands in its line before others learn of what it gives back.
      const granted = wait(room, { callerId, bytes, kind: 'begun' }, { signal, waitMilliseconds });
      set(0);
      await granted;
      if (isReleased) room.change(callerId, -bytes);
      else current = bytes;
    },
    release: () => {
      isReleased = true;
      set(0);
    },
  };
}
