import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientAddressOf } from '../client-address.js';
import { requestIdOf } from '../logging/request-id.js';
import { sendJson } from '../response/send-json.js';
import type { ConnectionRoom, Guest, Shortage } from './connection-room.js';
import { refuseSocket } from './refuse-socket.js';

const RETRY_SECONDS = 2;
/** The paths that are served to operators on connections of the reserve. */
const OPERATORS_PATH = /^\/(?:health|metrics|admin)(?:[/?]|$)/;

export interface ConnectionLimits {
  readonly room: ConnectionRoom;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly onRefused: (shortage: Shortage, address: string) => void;
}

/** A connection, its requests under way, and whether it ever had one. */
interface Line {
  readonly guest: Guest;
  requests: number;
  hasAsked: boolean;
  hasGivenWay: boolean;
}

/**
 * Limits the connections of a server. All are accepted, so that connections without room get an answer: 503 as soon as the
 * head of a request has arrived. Operators are served even then. The returned function answers such a request; it returns
 * false where the request is to be handled.
 */
export function limitConnections(
  server: Server,
  { room, isTrustedProxy, onRefused }: ConnectionLimits,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const lines = new WeakMap<Duplex, Line>();
  server.on('connection', (socket) => {
    lines.set(socket, open(socket, room, isTrustedProxy(socket.remoteAddress ?? '')));
  });
  return (request, response) => {
    const line = lines.get(request.socket);
    if (!line) return false;
    // Its head was on its way while the connection was ended.
    if (line.hasGivenWay) return true;
    const shortage = begin(line, room, response);
    if (shortage === null) return false;
    response.setHeader('Connection', 'close');
    if (OPERATORS_PATH.test(request.url ?? '')) {
      room.serveOperator(line.guest);
      return false;
    }
    onRefused(shortage, line.guest.address);
    refuse(request, response, shortage);
    return true;
  };
}

function open(socket: Socket, room: ConnectionRoom, isTrustedProxy: boolean): Line {
  const address = clientAddressOf({ ip: socket.remoteAddress });
  const giveWay = (shortage: Shortage) => {
    // A kept connection ends without a word. The client of another one waits for an answer.
    line.hasGivenWay = true;
    refuseSocket(socket, line.hasAsked ? null : { ...OVERLOADED, detail: DETAILS[shortage] });
  };
  const guest = { address, isTrustedProxy, giveWay };
  const line: Line = { guest, requests: 0, hasAsked: false, hasGivenWay: false };
  room.enter(line.guest);
  socket.once('close', () => {
    room.leave(line.guest);
  });
  return line;
}

/** Requests that a client sends without waiting for answers are under way together. */
function begin(line: Line, room: ConnectionRoom, response: ServerResponse): Shortage | null {
  line.hasAsked = true;
  line.requests += 1;
  response.once('close', () => {
    line.requests -= 1;
    if (line.requests === 0) room.endRequest(line.guest);
  });
  return room.beginRequest(line.guest);
}

const OVERLOADED = { status: 503, retryAfterSeconds: RETRY_SECONDS };
const DETAILS: Readonly<Record<Shortage, string>> = {
  address: 'Too many connections from this address',
  process: 'Too many connections',
};

function refuse(request: IncomingMessage, response: ServerResponse, shortage: Shortage): void {
  response.setHeader('X-Request-Id', requestIdOf(request.headers['x-request-id']));
  response.setHeader('Retry-After', String(RETRY_SECONDS));
  sendJson(response, OVERLOADED.status, { detail: DETAILS[shortage] });
}
