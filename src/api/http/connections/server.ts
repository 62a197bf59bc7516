import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { KEEP_ALIVE_MILLISECONDS } from '../../../shared/tools/keep-alive.js';
import { expectContinue } from './expect-continue.js';
import { closeLingering } from './lingering-close.js';
import type { Messages } from './messages.js';
import { limitConnections, type ConnectionLimits } from './limit-connections.js';
import { refuseSocket } from './refuse-socket.js';
import { limitRequestTime } from './request-time.js';
import { serializePipelined } from './serialize-pipelined.js';
import { sendJson } from '../response/send-json.js';
import { cutOffSlowClients, type SlowClientLimits } from './slow-clients.js';
import { requestIdOf } from '../logging/request-id.js';

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
