import type { IncomingMessage } from 'node:http';
import { HttpError } from '../http-error.js';

/** After its grace period, a body must arrive at this rate on average (the default of Apache's mod_reqtimeout). */
const MIN_BYTES_PER_SECOND = 500;
const TICK_MILLISECONDS = 250;

/**
 * Calls `onSlow` with a 408 when a body arrives too slowly. Time in which we do not read, because storage is slower, does
 * not count. Returns a function that ends the watch.
 */
export function watchProgress(
  request: IncomingMessage,
  graceSeconds: number,
  onSlow: (error: HttpError) => void,
): () => void {
  let received = 0;
  let waitedMilliseconds = 0;
  const count = (part: Uint8Array) => {
    received += part.length;
  };
  const timer = setInterval(() => {
    if (request.isPaused()) return;
    waitedMilliseconds += TICK_MILLISECONDS;
    const allowed = graceSeconds + received / MIN_BYTES_PER_SECOND;
    if (waitedMilliseconds <= allowed * 1_000) return;
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
