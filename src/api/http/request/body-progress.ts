import type { IncomingMessage } from 'node:http';
import { HttpError } from '../http-error.js';

/** After its grace period, a body must arrive at this rate on average (the default of Apache's mod_reqtimeout). */
const MIN_BYTES_PER_SECOND = 500;
const TICK_MILLISECONDS = 250;

export interface Pace {
  /** The time in which nothing need arrive at the beginning. */
  readonly graceSeconds: number;
  /**
   * For so long at most, nothing need arrive later, however fast the body came before. Without it, whoever has sent a megabyte
   * may pause for half an hour.
   */
  readonly pauseSeconds?: number;
}

/**
 * Calls `onSlow` with a 408 when a body arrives too slowly. Time in which we do not read, because storage is slower, does
 * not count. Returns a function that ends the watch.
 */
export function watchProgress(
  request: IncomingMessage,
  { graceSeconds, pauseSeconds = Infinity }: Pace,
  onSlow: (error: HttpError) => void,
): () => void {
  let secondsLeft = graceSeconds;
  const count = (part: Uint8Array) => {
    const earned = secondsLeft + part.length / MIN_BYTES_PER_SECOND;
    secondsLeft = Math.min(earned, pauseSeconds);
  };
  const timer = setInterval(() => {
    if (request.isPaused()) return;
    secondsLeft -= TICK_MILLISECONDS / 1_000;
    if (secondsLeft >= 0) return;
    stop();
    onSlow(new HttpError(408, 'The request body comes too slowly'));
  }, TICK_MILLISECONDS);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    request.off('data', count);
  };
  request.on('data', count);
  return stop;
}
