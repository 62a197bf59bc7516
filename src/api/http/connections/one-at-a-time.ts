import type { RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests of a connection that may wait; each takes some kilobytes. Clients that pipeline send two or three. */
const MAX_WAITING = 32;

interface Line {
  /** The newest; the next request waits until it is answered. */
  last: ServerResponse;
  waiting: number;
}

/**
 * Handles the requests of each connection one after the other. Node.js handles those that a client sends without waiting
 * for answers (RFC 9112, 9.3.2) all at once, and holds the answers back: hundreds of them for one packet of 64 KiB, past
 * every limit that counts what a client takes. A connection with more than 32 requests that wait ends.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const lines = new WeakMap<Duplex, Line>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { last: response, waiting: 0 };
    lines.set(socket, line);
    const before = line.last;
    line.last = response;
    if (before === response || before.closed) {
      handle(request, response);
      return;
    }
    line.waiting += 1;
    if (line.waiting > MAX_WAITING) {
      socket.destroy();
      return;
    }
    before.once('close', () => {
      line.waiting -= 1;
      if (!socket.destroyed) handle(request, response);
    });
  };
}
