import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AbandonedError } from '../../services/abandoned-error.js';

/** A client that accepts fewer bytes than this in the allowed time counts as stalled. */
const MIN_BYTES = 64 * 1024;
const CHECK_MILLISECONDS = 1_000;

export interface SlowClientLimits {
  /** A client for which bytes are waiting, and which accepts less than 64 KiB in this time, is disconnected. */
  readonly stalledMilliseconds: number;
  /**
   * The maximum number of bytes that are written and not yet accepted, for all clients together. Beyond this the clients
   * that have been behind for longest are disconnected.
   */
  readonly maxUnsentBytes: number;
  readonly onCutOff?: () => void;
}

/** How many bytes a client had accepted, and when. */
interface Mark {
  at: number;
  taken: number;
}

const cutOff = new WeakSet<Socket>();

/** Tells why a connection closed before its response was complete. */
export function reasonOfEnd(socket: Socket): AbandonedError {
  return new AbandonedError(cutOff.has(socket) ? 'stalled' : 'client_closed');
}

/**
 * Disconnects clients that read their responses too slowly, whatever is being sent: lists, downloads, event streams,
 * pages, errors. It watches sockets rather than responses, because responses may wait behind each other on one socket.
 */
export function cutOffSlowClients(server: Server, limits: SlowClientLimits): void {
  const { stalledMilliseconds, maxUnsentBytes, onCutOff } = limits;
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
      if (unsent <= maxUnsentBytes) return;
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
