import { types } from 'node:util';
import {
  AbortError,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  createClient,
  DisconnectsClientError,
  ErrorReply,
  MultiErrorReply,
  ReconnectStrategyError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  TimeoutError,
} from 'redis';
import { UnavailableError } from '../errors.js';
import { parseSocketUrl } from './socket-url.js';

/**
 * Creates the node-redis client for records, chunks, usage and caches. With `failFast`, the profile of the API, a Redis
 * that is away becomes an error within seconds and a 503 for the caller. Workers wait for it instead.
 */
export function createRedis(url: string, options: { failFast: boolean; onError: (error: Error) => void }) {
  const client = createClient({
    url,
    RESP: 3,
    disableOfflineQueue: options.failFast,
    socket: {
      connectTimeout: 2_000,
      reconnectStrategy: reconnectDelay,
    },
    // The client's timeout is off. It ends when a command is written, and its AbortSignal costs more than the command. A caller
    // that must not wait for a silent server watches the connection instead.
    commandOptions: { timeout: 0 },
  });
  client.on('error', options.onError);
  return client;
}
export type Redis = ReturnType<typeof createRedis>;

/** The options of an ioredis connection for BullMQ, with the same two profiles. */
export function bullConnection(url: string, options: { failFast: boolean }) {
  const common = { ...(parseSocketUrl(url) ?? { url }), retryStrategy: reconnectDelay };
  return options.failFast
    ? {
        ...common,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        connectTimeout: 2_000,
        commandTimeout: 5_000,
      }
    : { ...common, maxRetriesPerRequest: null };
}

/**
 * Turns an error into an UnavailableError when Redis is away, loading, full or too slow. An error about a wrong command
 * is a bug of ours and stays as it is. Knows the errors of node-redis, ioredis and BullMQ.
 */
export function toUnavailable(error: unknown): unknown {
  if (!isError(error)) return error;
  const isReply = error instanceof ErrorReply || error.name === 'ReplyError';
  const isAway = isReply ? isPassingReply(error) : isConnectionError(error);
  return isAway ? new UnavailableError('redis', { cause: error }) : error;
}

/** Error replies of a server that cannot serve now. Before Redis 7, the error of a script is wrapped in another. */
const PASSING_REPLY =
  /^(?:ERR .* -)?(?:LOADING|OOM|MISCONF|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|EXECABORT)\b|^ERR max number of clients/s;

function isPassingReply(error: Error): boolean {
  const replies: readonly Error[] =
    error instanceof MultiErrorReply ? [...error.errors()].filter(isError) : [error];
  return replies.some(({ message }) => PASSING_REPLY.test(message));
}

/** Also recognises errors of another realm, such as Node's own within a VM context. */
const isError = (value: unknown): value is Error => types.isNativeError(value);

const CONNECTION_ERRORS = [
  AbortError,
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ReconnectStrategyError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  TimeoutError,
];

/**
 * Errors of ioredis, which exports no classes, and of BullMQ, which the threads and processes that use Redis without queues
 * would load for one class: known by name, or for plain errors by their whole message.
 */
const CONNECTION_ERROR_NAMES = ['MaxRetriesPerRequestError', 'ConnectionClosedError'];
const CONNECTION_ERROR_MESSAGES = [
  "Stream isn't writeable and enableOfflineQueue options is false",
  'Connection is closed.',
  'Command timed out',
  'Command aborted due to connection close',
];
const SOCKET_ERROR_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
];

function isConnectionError(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    CONNECTION_ERRORS.some((known) => error instanceof known) ||
    CONNECTION_ERROR_NAMES.includes(error.name) ||
    CONNECTION_ERROR_MESSAGES.includes(error.message) ||
    SOCKET_ERROR_CODES.includes(code) ||
    // A server that is stopped has removed its socket, and one with too many connections takes no more for now.
    (['ENOENT', 'EAGAIN'].includes(code) && 'syscall' in error && error.syscall === 'connect')
  );
}

/**
 * Waits for a reply; null when the server lacks the command or forbids it. Managed servers
 * forbid some of the commands that tell about themselves.
 */
export async function unlessRefused<Reply>(reply: Promise<Reply>): Promise<Reply | null> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof Error && /NOPERM|unknown command|not allowed/i.test(error.message)) return null;
    throw error;
  }
}

/** Milliseconds to wait before the next attempt to connect, which double from one attempt to the next up to a second. */
export const reconnectDelay = (attempts: number): number => Math.min(50 * 2 ** attempts, 1_000);
