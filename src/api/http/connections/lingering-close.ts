import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from '../request/body.js';

const LINGER_MILLISECONDS = 2_000;
/** Of requests that are dropped, in a turn of the event loop: some 64 KiB are there of each. */
const DROPS_A_TURN = 8;

/**
 * After an answer that did not wait for the whole body, drops what the client still sends for a while, since closing at
 * once would take the answer from it; then the connection ends.
 */
export function linger(request: IncomingMessage, response: ServerResponse): void {
  // Before it has finished: by then Node.js drops by itself what nobody has begun to read, all at once.
  response.once('prefinish', () => {
    if (request.complete || request.destroyed || !hasBody(request)) return;
    request.unpipe();
    drop(request);
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

const drop = createDropping();

/** Drops requests in turns, a few in each of the event loop: a hundred that send what they can would fill it. */
function createDropping(): (request: IncomingMessage) => void {
  const ready = new Set<IncomingMessage>();
  let isRunning = false;
  const turn = () => {
    let left = DROPS_A_TURN;
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
