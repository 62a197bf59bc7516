import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Settings } from '../../../shared/settings/schema.js';
import { parseTrustedProxies, trustedProxyTest } from '../../../shared/settings/addresses.js';
import { clientAddressOf } from '../client-address.js';
import { requestIdOf } from '../logging/access-log.js';
import { tellError } from '../response/error-shapes.js';
import { sendJson } from '../response/write.js';

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
    if (request.url !== undefined && OPERATORS_PATH.test(request.url)) {
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
  const path = (request.url ?? '').replace(/\?.*/s, '');
  const told = tellError(path, { status: OVERLOADED.status, detail: DETAILS[shortage], hasToken: true });
  sendJson(response, told.status, told.body);
}

/** Each connection takes some tens of kilobytes of memory. */
const MAX_CONNECTIONS = 10_000;
const MIN_CONNECTIONS = 8;
/** Below this, the clients of one busy address fill its share. */
const FEW_CONNECTIONS = 400;
/** An API process without a connection has some 40 descriptors: of Redis, threads and its log. */
const OWN_DESCRIPTORS = 64;
const RESERVE = 16;
/** A request may need a second one, for a file or for a provider. HAProxy reckons so as well. */
const DESCRIPTORS_PER_CONNECTION = 2;
const ADDRESS_SHARE = 0.25;
const WARN_EVERY_MILLISECONDS = 10_000;

const reportSchema = z.object({
  userLimits: z.object({ open_files: z.object({ soft: z.union([z.number(), z.string()]) }) }),
});

interface ConnectionMetrics {
  readonly showConnections: (room: Pick<ConnectionRoom, 'open'>) => void;
  readonly countRefused: (shortage: Shortage) => void;
}

/**
 * Returns the limits of connections to this process, in all and for each address. They depend on its descriptors (`ulimit
 * -n`).
 */
export function connectionLimitsOf(
  { api }: Settings,
  logger: Logger,
  metrics: ConnectionMetrics,
): ConnectionLimits {
  const descriptors = descriptorsOfThisProcess();
  const { max, perAddress, reserve } = connectionsWithin(descriptors, api.connectionsPerAddress);
  if (max < FEW_CONNECTIONS)
    logger.warn({ descriptors, connections: max }, 'few descriptors: `ulimit -n` limits the connections');
  const room = createConnectionRoom({ max, perAddress, reserve });
  metrics.showConnections(room);
  const warn = warnSometimes(logger);
  return {
    room,
    isTrustedProxy: trustedProxyTest(parseTrustedProxies(api.trustProxy) ?? 0),
    onRefused: (shortage, address) => {
      metrics.countRefused(shortage);
      warn(shortage, address);
    },
  };
}

function descriptorsOfThisProcess(): number {
  const { soft } = reportSchema.parse(process.report.getReport()).userLimits.open_files;
  const descriptors = Number(soft);
  // The report says `unlimited` where there is no limit.
  return Number.isNaN(descriptors) ? Infinity : descriptors;
}

/** Returns the connections that this many descriptors are enough for, files and the reserve aside. 0: a share by default. */
export function connectionsWithin(descriptors: number, perAddress: number) {
  const possible = Math.floor((descriptors - OWN_DESCRIPTORS - 2 * RESERVE) / DESCRIPTORS_PER_CONNECTION);
  const max = Math.max(MIN_CONNECTIONS, Math.min(MAX_CONNECTIONS, possible));
  return {
    max,
    perAddress: perAddress === 0 ? Math.ceil(max * ADDRESS_SHARE) : perAddress,
    reserve: RESERVE,
  };
}

/** Refusals come by the thousand, and are counted elsewhere. */
function warnSometimes(logger: Logger): (shortage: Shortage, address: string) => void {
  let warnedAt = -Infinity;
  return (shortage, address) => {
    if (performance.now() - warnedAt < WARN_EVERY_MILLISECONDS) return;
    warnedAt = performance.now();
    logger.warn({ shortage, address }, 'requests are refused: too many connections');
  };
}

interface Refusal {
  readonly status: number;
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
}

/** Answers in JSON on a connection without a request that could be answered, and ends it. Null: without an answer. */
export function refuseSocket(socket: Duplex, refusal: Refusal | null): void {
  if (refusal === null || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, retryAfterSeconds } = refusal;
  const reason = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ detail: refusal.detail ?? reason });
  const lines = [
    `HTTP/1.1 ${String(status)} ${reason}`,
    'Content-Type: application/json',
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    `X-Request-Id: ${randomUUID()}`,
    ...(retryAfterSeconds === undefined ? [] : [`Retry-After: ${String(retryAfterSeconds)}`]),
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => {
    socket.destroy();
  });
}

/** The room that a connection lacked: the share of its address, or all that this process can have. */
export type Shortage = 'address' | 'process';

interface ConnectionRoomOptions {
  /** Connections of all addresses together. */
  readonly max: number;
  /** Connections of one address. */
  readonly perAddress: number;
  /** Further connections: this many whose requests are read to be refused, and as many on which operators are served. */
  readonly reserve: number;
}

/** A connection, as the room sees it. */
interface Guest {
  readonly address: string;
  /** A trusted proxy has no share, since it carries the requests of others. */
  readonly isTrustedProxy: boolean;
  /** Ends the connection, because another one needs its place: of the address, or of the process. */
  readonly giveWay: (shortage: Shortage) => void;
}

/**
 * Divides the connections of this process. An address has a share (as with `limit_conn` of nginx). A connection without a
 * request gives way to a new one of the same address where that has its share, and of any address where the process is
 * full, as a server may end it at any time (RFC 9112, 9.3). Where all have requests, a new connection comes into the
 * reserve, where the oldest one gives way.
 */
export interface ConnectionRoom {
  enter(guest: Guest): void;
  /** Called when a connection has ended; a connection that gave way has left already. */
  leave(guest: Guest): void;
  /** Notes a request. Returns the room that it lacks; null where there is room, perhaps only by now. */
  beginRequest(guest: Guest): Shortage | null;
  endRequest(guest: Guest): void;
  /** Keeps a connection of the reserve while an operator is served on it. */
  serveOperator(guest: Guest): void;
  open(): number;
}

/** The connections of one address, or of all. */
interface Holding {
  readonly guests: Set<Guest>;
  /** The connections without a request, the longest idle one first. */
  readonly idle: Set<Guest>;
}

interface Account extends ConnectionRoomOptions {
  readonly all: Holding;
  readonly addresses: Map<string, Holding>;
  /** The connections of the reserve, the oldest first: connections to be refused, and connections of operators. */
  readonly refused: Set<Guest>;
  readonly operators: Set<Guest>;
}

export function createConnectionRoom(options: ConnectionRoomOptions): ConnectionRoom {
  const account = openAccount(options);
  const { all, addresses, refused, operators } = account;
  const holdingsOf = ({ address }: Guest) => [all, addresses.get(address) ?? newHolding()];
  return {
    enter: (guest) => {
      if (shortageOf(account, guest) === null) take(account, guest);
      else keep(account, refused, guest);
    },
    leave: (guest) => {
      leave(account, guest);
    },
    beginRequest: (guest) => {
      if (!all.guests.has(guest)) {
        const shortage = shortageOf(account, guest);
        if (shortage !== null) return shortage;
        leave(account, guest);
        take(account, guest);
      }
      for (const { idle } of holdingsOf(guest)) idle.delete(guest);
      return null;
    },
    endRequest: (guest) => {
      if (all.guests.has(guest)) for (const { idle } of holdingsOf(guest)) idle.add(guest);
    },
    serveOperator: (guest) => {
      if (refused.delete(guest)) keep(account, operators, guest);
    },
    open: () => all.guests.size + refused.size + operators.size,
  };
}

const newHolding = (): Holding => ({ guests: new Set(), idle: new Set() });

function openAccount({ max, perAddress, reserve }: ConnectionRoomOptions): Account {
  return {
    max,
    perAddress,
    reserve,
    all: newHolding(),
    addresses: new Map(),
    refused: new Set(),
    operators: new Set(),
  };
}

/** Returns the room that a connection lacks, after another one has given way where one could. */
function shortageOf(account: Account, { address, isTrustedProxy }: Guest): Shortage | null {
  const { all, addresses, max, perAddress } = account;
  const own = addresses.get(address);
  const isFull = own !== undefined && own.guests.size >= perAddress && !isTrustedProxy;
  if (isFull && !endFirst(account, own.idle, 'address')) return 'address';
  return all.guests.size >= max && !endFirst(account, all.idle, 'process') ? 'process' : null;
}

/** Returns false where there is none. */
function endFirst(account: Account, guests: ReadonlySet<Guest>, shortage: Shortage): boolean {
  for (const guest of guests) {
    leave(account, guest);
    guest.giveWay(shortage);
    return true;
  }
  return false;
}

function take({ all, addresses }: Account, guest: Guest): void {
  const own = addresses.get(guest.address) ?? newHolding();
  addresses.set(guest.address, own);
  for (const { guests, idle } of [all, own]) {
    guests.add(guest);
    idle.add(guest);
  }
}

function keep(account: Account, kept: Set<Guest>, guest: Guest): void {
  if (kept.size >= account.reserve) endFirst(account, kept, 'process');
  kept.add(guest);
}

function leave({ all, addresses, refused, operators }: Account, guest: Guest): void {
  const own = addresses.get(guest.address);
  for (const guests of [refused, operators, all.guests, all.idle, own?.guests, own?.idle]) {
    guests?.delete(guest);
  }
  if (own?.guests.size === 0) addresses.delete(guest.address);
}
