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
