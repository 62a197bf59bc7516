import type { IncomingMessage, ServerResponse } from 'node:http';

const LINGER_MILLISECONDS = 2_000;

/**
 * After an answer that did not wait for the whole body, drops what the client still sends for a while, since closing at
 * once would take the answer from it; then the connection ends.
 */
export function linger(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    if (request.complete || request.destroyed) return;
    request.unpipe();
    request.resume();
    const timer = setTimeout(() => {
      if (!request.complete) request.destroy();
    }, LINGER_MILLISECONDS);
    timer.unref();
    request.once('close', () => {
      clearTimeout(timer);
    });
  });
}
