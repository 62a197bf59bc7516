import type { RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** At most this many requests of a connection wait. Each takes some kilobytes, and clients that pipeline send two or three. */
const MAX_WAITING = 32;

interface Line {
  /** The response to the newest request; the next request waits until it is closed. */
  last: ServerResponse;
  waiting: number;
}

/**
 * Handles the requests of each connection one after the other. Node.js handles pipelined requests (RFC 9112, 9.3.2) all at
 * once and holds their responses back. A packet of 64 KiB can hold hundreds of requests, and the limits on slow clients
 * do not count responses that are held back. A connection on which more than 32 requests wait is closed.
 */
export function serializePipelined(handle: RequestListener): RequestListener {
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
