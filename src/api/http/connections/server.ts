import { once } from 'node:events';
import {
  createServer,
  ServerResponse,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import express, { type Express } from 'express';
import { KEEP_ALIVE_MILLISECONDS } from '../../../shared/tools/keep-alive.js';
import { requestIdOf } from '../logging/access-log.js';
import { hasBody, limitRequestTime, expectContinue } from '../request/body.js';
import { sendJson } from '../response/write.js';
import { limitConnections, refuseSocket, type ConnectionLimits } from './limit-connections.js';
import { cutOffSlowClients, type SlowClientLimits } from './slow-clients.js';

const HEADERS_TIMEOUT_MILLISECONDS = 15_000;
const MAX_HEADER_BYTES = 16 * 1024;

interface ApiServerOptions extends SlowClientLimits {
  readonly requestTimeoutSeconds: number;
  /** The application may have adapted these to itself. */
  readonly messages?: Messages;
  readonly connections?: ConnectionLimits;
}

/**
 * Creates the HTTP server. It answers in JSON even data that never becomes a request, such as a malformed head, and
 * disconnects clients that send or read too slowly.
 */
export function createApiServer(
  listener: RequestListener,
  { requestTimeoutSeconds, messages, connections, ...sending }: ApiServerOptions,
): Server {
  const requestTimeout = requestTimeoutSeconds * 1_000;
  const server = createServer({ ...serverOptions(requestTimeout), ...classesOf(messages) });
  cutOffSlowClients(server, sending);
  const responses = new WeakMap<Duplex, ServerResponse>();
  const handle = serializePipelined((request, response) => {
    responses.set(request.socket, response);
    listener(request, response);
  });
  const refuse = connections ? limitConnections(server, connections) : () => false;
  const accept: RequestListener = (request, response) => {
    closeLingering(request, response);
    if (refuse(request, response)) return;
    limitRequestTime(request, requestTimeout, () => {
      server.emit('clientError', requestTimedOut(), request.socket);
    });
    handle(request, response);
  };
  server.on('request', accept);
  server.on('checkContinue', (request, response) => {
    expectContinue(request, response);
    accept(request, response);
  });
  refuseOthers(server, responses);
  return server;
}

const classesOf = (messages: Messages | undefined): ServerOptions =>
  messages ? { IncomingMessage: messages.IncomingMessage, ServerResponse: messages.ServerResponse } : {};

function serverOptions(requestTimeout: number): ServerOptions {
  return {
    // Each request is timed by itself, since streams may take longer.
    requestTimeout: 0,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MILLISECONDS, requestTimeout),
    connectionsCheckingInterval: Math.min(1_000, requestTimeout),
    keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The app refuses requests without a `Host` header itself, with a JSON body.
    requireHostHeader: false,
  };
}

/** The error that Node.js raises for its own timeout. */
const requestTimedOut = () =>
  Object.assign(new Error('the request took too long'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

/**
 * Refuses requests that never reach the app: other expectations than `100-continue`, malformed requests, and tunnels.
 * `responses` holds the newest response of each connection, because nothing may be written into one that has begun.
 */
function refuseOthers(server: Server, responses: WeakMap<Duplex, ServerResponse>): void {
  server.on('checkExpectation', (request, response) => {
    response.setHeader('X-Request-Id', requestIdOf(request.headers['x-request-id']));
    sendJson(response, 417, { detail: 'Expectation Failed' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket);
    const isResponding = response !== undefined && response.headersSent && !response.writableFinished;
    const status = isResponding ? null : statusOf(error);
    refuseSocket(socket, status === null ? null : { status });
  });
  server.on('connect', (_request, socket) => {
    refuseSocket(socket, { status: 405 });
  });
}

/** Null when the client is gone and no response can be sent. */
function statusOf({ code }: NodeJS.ErrnoException): number | null {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    case 'ECONNRESET':
    case 'EPIPE':
      return null;
    default:
      return 400;
  }
}

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

/** The server cannot listen at the address that the settings name; the message tells the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'another program listens there already'],
  ['EACCES', 'this user may not listen there'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'there is no such host'],
]);

/** @throws ListenError */
export async function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const reason = REASONS.get(code);
    if (reason === undefined) throw cause;
    const settings = 'set PORT and HOST (api.port, api.host) otherwise';
    throw new ListenError(`cannot listen on ${host} port ${String(port)}: ${reason}; ${settings}`, { cause });
  }
}

const LINGER_MILLISECONDS = 2_000;
/** The number of requests that discard input in one turn of the event loop. Each has about 64 KiB buffered. */
const DISCARDS_PER_TURN = 8;

/**
 * Closes a connection late when its response was sent before the whole body had arrived (a "lingering close", as in nginx).
 * Further bytes of the client are discarded for a while: closing at once would reset the connection, and the client might
 * never read the response.
 */
function closeLingering(request: IncomingMessage, response: ServerResponse): void {
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

const CLOSE_IDLE_EVERY_MILLISECONDS = 100;
const MAX_TURNS = 1_000;

/** Takes no new connections, lets requests finish for `drainSeconds`, then closes the connections that are left. */
export async function stopServer(server: Server, { drainSeconds }: { drainSeconds: number }): Promise<void> {
  if (!server.listening) return;
  await acceptWaitingConnections(server);
  const closed = once(server, 'close');
  server.close();
  // Connections that are kept alive become idle one after the other.
  const closeIdle = setInterval(() => {
    // setImmediate lets Node.js first read the bytes that have arrived over them.
    setImmediate(() => {
      server.closeIdleConnections();
    });
  }, CLOSE_IDLE_EVERY_MILLISECONDS);
  const closeAll = setTimeout(() => {
    server.closeAllConnections();
  }, drainSeconds * 1_000);
  try {
    await closed;
  } finally {
    clearInterval(closeIdle);
    clearTimeout(closeAll);
  }
}

/**
 * Accepts the connections that the operating system has already established: closing the listening socket would reset them,
 * and their requests would be lost. Each turn of the event loop accepts one connection (since libuv 1.45) and reads from
 * the others.
 */
async function acceptWaitingConnections(server: Server): Promise<void> {
  let hasAccepted = true;
  const note = () => {
    hasAccepted = true;
  };
  server.on('connection', note);
  for (let turns = 0; hasAccepted && turns < MAX_TURNS; turns += 1) {
    hasAccepted = false;
    await nextTurn();
  }
  server.off('connection', note);
}

/**
 * Prepares a server to announce its end: once `begin` is called, every response carries `Connection: close` (RFC 9112,
 * 9.6), including responses already under way. Clients with persistent connections then open their next one elsewhere, and
 * no connection is closed while a request is on its way.
 */
export function createConnectionClose(server: Server): { begin: () => void } {
  const responding = new Set<ServerResponse>();
  let hasBegun = false;
  const note = (_request: IncomingMessage, response: ServerResponse) => {
    if (hasBegun) {
      sendClose(response);
      return;
    }
    responding.add(response);
    response.once('close', () => responding.delete(response));
  };
  server.prependListener('request', note);
  server.prependListener('checkContinue', note);
  return {
    begin: () => {
      hasBegun = true;
      for (const response of responding) if (!response.headersSent) sendClose(response);
      responding.clear();
    },
  };
}

function sendClose(response: ServerResponse): void {
  response.setHeader('Connection', 'close');
}

/** The classes that a server makes its requests and responses of. */
export interface Messages {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
  /** Makes them the messages of this application. To be called once, before it handles a request. */
  readonly serve: (app: Express) => void;
}

/**
 * Makes classes whose objects have the methods of Express from the beginning. Express gives each request and response
 * another prototype, and from then on V8 looks up all their properties slowly: in Express, in Node.js and here. That takes
 * longer than everything else that Express does. With objects that have the right prototype already, it changes nothing.
 */
export function createMessages(): Messages {
  class ApiRequest extends IncomingMessage {}
  class ApiResponse<From extends IncomingMessage = IncomingMessage> extends ServerResponse<From> {}
  Object.setPrototypeOf(ApiRequest.prototype, express.request);
  Object.setPrototypeOf(ApiResponse.prototype, express.response);
  return {
    IncomingMessage: ApiRequest,
    ServerResponse: ApiResponse,
    serve: (app) => {
      Object.defineProperty(ApiRequest.prototype, 'app', { value: app });
      Object.defineProperty(ApiResponse.prototype, 'app', { value: app });
      Object.assign(app, { request: ApiRequest.prototype, response: ApiResponse.prototype });
    },
  };
}
