/** A signal that aborts with a caller's, or when nothing was heard for a while. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Whether it aborted for want of news, not by the caller. */
  readonly isOver: boolean;
  /** Starts the wait anew. */
  extend(): void;
  /** Stops the clock until it is extended: what comes next is not waiting for news. */
  pause(): void;
  /** Lets go of timer and caller's signal. */
  clear(): void;
}

/** By hand, since `AbortSignal.any` of Node 20 keeps what hangs on a long-lived signal. */
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
