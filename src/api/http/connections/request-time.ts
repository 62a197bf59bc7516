import type { IncomingMessage } from 'node:http';
import { hasBody } from '../request/body.js';

const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/**
 * Calls `onLate` when a request has not arrived completely after this time. The request timeout of Node.js does the same,
 * but cannot be lifted for single requests.
 */
export function limitRequestTime(request: IncomingMessage, milliseconds: number, onLate: () => void): void {
  if (!hasBody(request)) return;
  const timer = setTimeout(() => {
    if (!request.complete) onLate();
  }, milliseconds);
  timer.unref();
  timers.set(request, timer);
  const stop = () => {
    clearTimeout(timer);
  };
  request.once('end', stop).once('close', stop);
}

/** Lets a request take as long as it needs, for streams of any length. Too slow ones still end. */
export function liftRequestTime(request: IncomingMessage): void {
  clearTimeout(timers.get(request));
}
