import { setMaxListeners } from 'node:events';

/**
 * Waits for `answer` until the signal aborts, and then rejects with its reason. The work
 * behind the answer continues, and its outcome is ignored.
 */
export async function untilAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!signal) return answer;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(abortReason(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([answer, aborted]);
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
    answer.catch(() => undefined);
  }
}

/** The reason with which a signal was aborted. */
// @NOTE it is whatever was given to abort(), and is passed on unchanged
export const abortReason = (signal: AbortSignal): Error => signal.reason as Error;

/** Makes a controller whose signal any number may listen to at once. Node takes more than ten for a leak and warns of them. */
export function createSharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** A signal that aborts when the caller's signal does, or when there was no news for a while. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True if it aborted because there was no news. */
  readonly isOver: boolean;
  /** Starts to wait for news again. */
  extend(): void;
  /** Stops the clock until the next `extend`. */
  pause(): void;
  /** Releases the timer and the caller's signal. */
  clear(): void;
}

/** `AbortSignal.any` is not used, because in Node 20 it keeps everything alive that depends on a long-lived signal. */
export function createDeadline(milliseconds: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  let isOver = false;
  const expire = () => {
    isOver = true;
    controller.abort(new DOMException('The operation timed out', 'TimeoutError'));
  };
  const abort = () => {
    clearTimeout(timer);
    controller.abort(signal?.reason);
  };
  let timer = setTimeout(expire, milliseconds);
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get isOver() {
      return isOver;
    },
    extend: () => {
      clearTimeout(timer);
      if (!controller.signal.aborted) timer = setTimeout(expire, milliseconds);
    },
    pause: () => {
      clearTimeout(timer);
    },
    clear: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}
