import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AbandonedError } from '../../services/abandoned-error.js';

/** Less than this in the whole of the time allowed counts as nothing. */
const MIN_BYTES = 64 * 1024;
const CHECK_MILLISECONDS = 1_000;

export interface SendingLimits {
  /** A client that has bytes to take, and takes less than 64 KiB in this time, is cut off. */
  readonly stalledMilliseconds: number;
  /** Written and not yet taken, by all clients together; beyond it those that have waited longest are cut off. */
  readonly mostUnsentBytes: number;
  readonly onCutOff?: () => void;
}

/** How far a client was, and when. */
interface Mark {
  at: number;
  taken: number;
}

const cutOff = new WeakSet<Socket>();

/** Why a connection ended before its answer did. */
export function reasonOfEnd(socket: Socket): AbandonedError {
  return new AbandonedError(cutOff.has(socket) ? 'stalled' : 'client_closed');
}

/**
 * Ends connections whose clients take too little of what they asked for, whatever is being sent: lists, downloads, event
 * streams, pages, errors. Looks at sockets, since answers may wait behind each other on one.
 */
export function watchSending(server: Server, limits: SendingLimits): void {
  const { stalledMilliseconds, mostUnsentBytes, onCutOff } = limits;
  const marks = new Map<Socket, Mark>();
  server.on('connection', (socket: Socket) => {
    marks.set(socket, { at: performance.now(), taken: 0 });
    socket.once('close', () => marks.delete(socket));
  });
  const end = (socket: Socket) => {
    cutOff.add(socket);
    onCutOff?.();
    socket.destroy();
  };
  const check = () => {
    const now = performance.now();
    const behind: { socket: Socket; mark: Mark }[] = [];
    let unsent = 0;
    for (const [socket, mark] of marks) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken - mark.taken >= MIN_BYTES) {
        mark.at = now;
        mark.taken = taken;
      } else if (now - mark.at >= stalledMilliseconds) end(socket);
      else {
        behind.push({ socket, mark });
        unsent += socket.writableLength;
      }
    }
    behind.sort((a, b) => a.mark.at - b.mark.at);
    for (const { socket } of behind) {
      if (unsent <= mostUnsentBytes) return;
      unsent -= socket.writableLength;
      end(socket);
    }
  };
  const timer = setInterval(check, Math.min(CHECK_MILLISECONDS, stalledMilliseconds / 4));
  timer.unref();
  server.once('close', () => {
    clearInterval(timer);
  });
}
