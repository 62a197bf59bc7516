import { createAnswerRoom, type AnswerRoom } from './answer-room.js';
import { wait } from './answer-wait.js';
import type { Holder } from './waiting-answers.js';

/** A part of the memory is reserved for answers up to this size. */
const SMALL_BYTES = 256 * 1024;
const WAIT_MILLISECONDS = 5_000;

export interface Wanted {
  readonly callerId: string;
  readonly bytes: number;
  /** The signal of the request, by which its answer is known. */
  readonly signal?: AbortSignal | undefined;
}

export interface Lease {
  /** Changes the size. Returns false, and changes nothing, if there is no room for it now. */
  resize(bytes: number): boolean;
  /**
   * Gives back the bytes of the lease, whose content the caller must have dropped, and waits for another size. It comes
   * before answers that have nothing yet. If something was sent already, it waits without end.
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
  hold(wanted: Wanted): Lease;
  /** Callers who hold more than one who waits, largest first: the slow connections of the first that has any should be cut off. */
  givesWay(): readonly string[];
  /** Tells whether the answer to the request with this signal holds memory now. */
  holds(answer: AbortSignal): boolean;
  figures(): { readonly held: number; readonly waiting: number };
}

export function createAnswerMemory({
  limitBytes,
  waitMilliseconds = WAIT_MILLISECONDS,
}: {
  readonly limitBytes: number;
  readonly waitMilliseconds?: number;
}): AnswerMemory {
  const room = createAnswerRoom(limitBytes);
  return {
    reserve: async ({ callerId, bytes: wanted, signal }) => {
      const bytes = room.capped(wanted);
      const kind = bytes <= SMALL_BYTES ? 'small' : 'large';
      const holder = { callerId, answer: signal };
      await wait(room, { ...holder, bytes, kind }, { signal, waitMilliseconds });
      return createLease(room, { holder, bytes, waitMilliseconds });
    },
    hold: ({ callerId, bytes: wanted, signal }) => {
      const holder = { callerId, answer: signal };
      const bytes = Math.min(wanted, room.leftFor(callerId));
      room.change(holder, bytes);
      return createLease(room, { holder, bytes, waitMilliseconds });
    },
    givesWay: room.givesWay,
    holds: room.holds,
    figures: room.figures,
  };
}

/** @param options.bytes the bytes that were counted for it already */
function createLease(
  room: AnswerRoom,
  options: { readonly holder: Holder; readonly bytes: number; readonly waitMilliseconds: number },
): Lease {
  const { holder } = options;
  const { callerId } = holder;
  let current = options.bytes;
  let isReleased = false;
  const set = (bytes: number) => {
    const by = bytes - current;
    current = bytes;
    if (by !== 0) room.change(holder, by);
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
      // It stands in its line before others learn of the bytes that it gives back.
      const granted = wait(room, { ...holder, bytes, kind: 'begun' }, { signal, waitMilliseconds });
      set(0);
      await granted;
      if (isReleased) room.change(holder, -bytes);
      else current = bytes;
    },
    release: () => {
      isReleased = true;
      set(0);
    },
  };
}
