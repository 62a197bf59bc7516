import { createDeadline } from '../../tools/deadline.js';
import { untilAborted } from '../../tools/until-aborted.js';
import type { Calls } from './calls.js';

/** A stream that has begun. Whoever has opened it must close it. */
export interface OpenStream {
  /** Waits for the next message. @throws UnavailableError; the signal's reason when it aborts */
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Ends the request, if the class heeds its signal, and does not wait for it. */
  close(): void;
}

interface StreamOptions {
  readonly start: (options: { readonly signal: AbortSignal }) => Promise<AsyncIterable<unknown>>;
  readonly signal: AbortSignal | undefined;
  /** Called with the error of the class, as it is. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

/**
 * Begins a stream that is given up when it is silent for too long or the signal aborts, whether or not the class heeds the
 * signal that it is given. Its further events are ignored, and it holds a place until it has ended.
 */
export async function openStream(
  calls: Calls,
  { start, signal, onFailure }: StreamOptions,
): Promise<OpenStream> {
  const leave = await calls.enter(signal);
  const ending = new AbortController();
  const deadline = createDeadline(calls.timeoutMilliseconds, signal);
  const end = () => ending.abort(deadline.signal.reason);
  deadline.signal.addEventListener('abort', end, { once: true });
  let begun: Promise<unknown> = Promise.resolve();
  let iterator: AsyncIterator<unknown> | null = null;
  let isClosed = false;

  const close = () => {
    if (isClosed) return;
    isClosed = true;
    deadline.clear();
    deadline.signal.removeEventListener('abort', end);
    ending.abort(new DOMException('The answer is not read any further', 'AbortError'));
    // A class may throw where it should reject.
    const ended = Promise.resolve().then(() => iterator?.return?.());
    leave(Promise.allSettled([begun, ended]));
  };
  const waitFor = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      deadline.extend();
      const working = work();
      begun = working;
      return await untilAborted(working, deadline.signal);
    } catch (error) {
      onFailure?.(error);
      const translated = calls.translate(error, deadline, signal);
      close();
      throw translated;
    } finally {
      deadline.pause();
    }
  };

  const opened = await waitFor(() => start({ signal: ending.signal }));
  const opening = (iterator = opened[Symbol.asyncIterator]());
  return { next: () => waitFor(() => opening.next()), close };
}
