import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from '../request/body.js';

const LINGER_MILLISECONDS = 2_000;
/** The number of requests that discard input in one turn of the event loop. Each has about 64 KiB buffered. */
const DISCARDS_PER_TURN = 8;

/**
 * Closes a connection late when its response was sent before the whole body had arrived (a "lingering close", as in nginx).
 * Further bytes of the client are discarded for a while: closing at once would reset the connection, and the client might
 * never read the response.
 */
export function closeLingering(request: IncomingMessage, response: ServerResponse): void {
  // On 'finish' it would be too late: Node.js then discards a body that nobody reads by itself, without any limit.
  response.once('prefinish', () => {
    if (request.complete || request.destroyed || !hasBody(request)) return;
    request.unpipe();
    discard(request);
  });
  response.once('finish', () => {
    if (request.complete || request.destroyed) return;
    const timer = setTimeout(() => {
      if (!request.complete) request.destroy();
    }, LINGER_MILLISECONDS);
    timer.unref();
    request.once('close', () => {
      clearTimeout(timer);
    });
  });
}

const discard = createDiscarding();

/**
 * Discards the input of a few requests in each turn of the event loop. A hundred clients that send as fast as they can
 * would otherwise keep it busy.
 */
function createDiscarding(): (request: IncomingMessage) => void {
  const ready = new Set<IncomingMessage>();
  let isRunning = false;
  const turn = () => {
    let left = DISCARDS_PER_TURN;
    for (const request of ready) {
      if (left === 0) break;
      left -= 1;
      ready.delete(request);
      request.read();
    }
    isRunning = ready.size > 0;
    if (isRunning) setImmediate(turn);
  };
  return (request) => {
    request.on('error', () => undefined);
    request.on('readable', () => {
      ready.add(request);
      if (isRunning) return;
      isRunning = true;
      setImmediate(turn);
    });
    request.read(0);
  };
}
