import { toError, UnavailableError } from '../../../shared/errors.js';
import type { Waiter } from './waiting-answers.js';
import type { AnswerRoom } from './answer-room.js';

/** Answers of one caller that may wait. */
const MAX_WAITING = 100;

interface Patience {
  readonly signal: AbortSignal | undefined;
  /** null: as long as it takes. */
  readonly waitMilliseconds: number | null;
}

/**
 * Resolves when there is room, which is then counted. @throws UnavailableError when none comes; the reason of the signal
 * when it aborts
 */
export function wait(
  room: AnswerRoom,
  asked: Omit<Waiter, 'grant'>,
  { signal, waitMilliseconds }: Patience,
): Promise<void> {
  if (signal?.aborted !== true && room.figures().waiting === 0 && room.fits(asked)) {
    // Nearly all answers come in like this, without a place in a line, a timer and a listener.
    room.change(asked, asked.bytes);
    return Promise.resolve();
  }
  return new Promise<void>((resolve, reject) => {
    const state = { isWaiting: true };
    const stop = () => {
      state.isWaiting = false;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const grant = () => {
      stop();
      room.change(asked, asked.bytes);
      resolve();
    };
    const waiter: Waiter = { ...asked, grant };
    const refuse = (error: unknown) => {
      stop();
      reject(toError(error));
      room.leave(waiter);
    };
    const onAbort = () => {
      refuse(signal?.reason);
    };
    const timer = setPatience(waitMilliseconds, () => {
      refuse(noRoom());
    });
    signal?.addEventListener('abort', onAbort);
    room.enter(waiter);
    if (signal?.aborted === true) onAbort();
    else if (state.isWaiting && isOneTooMany(room, asked)) refuse(noRoom());
  });
}

/** The timer does not keep a process alive that has nothing else to do. */
function setPatience(milliseconds: number | null, onOver: () => void): NodeJS.Timeout | undefined {
  return milliseconds === null ? undefined : setTimeout(onOver, milliseconds).unref();
}

const isOneTooMany = (room: AnswerRoom, { callerId, kind }: Omit<Waiter, 'grant'>): boolean =>
  kind !== 'begun' && room.waitingOf(callerId) > MAX_WAITING;

const noRoom = () => new UnavailableError('memory for large answers', { retryAfterSeconds: 5 });
