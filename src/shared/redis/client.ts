import { types } from 'node:util';
import { ConnectionClosedError } from 'bullmq';
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

/**
 * node-redis client for records, chunks, usage and caches. `failFast` is the API's profile: a Redis that is away is an
 * error within seconds, which becomes 503; workers wait for it instead.
 */
export function createRedis(url: string, options: { failFast: boolean; onError: (error: Error) => void }) {
  const client = createClient({
    url,
    RESP: 3,
    disableOfflineQueue: options.failFast,
    socket: {
      connectTimeout: 2_000,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, 1_000),
    },
    // The client's timeout ends when a command is written, and makes an AbortSignal for each, which costs more than the
    // command: a caller that must not wait for a silent server watches the connection instead.
    commandOptions: { timeout: 0 },
  });
  client.on('error', options.onError);
  return client;
}
export type Redis = ReturnType<typeof createRedis>;

/** Options of an ioredis connection for BullMQ, in the same two profiles. */
export function bullConnection(url: string, options: { failFast: boolean }) {
  const common = { url, retryStrategy: (times: number) => Math.min(50 * 2 ** times, 1_000) };
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

interface ScriptCall {
  readonly keys: string[];
  readonly arguments: (string | Buffer)[];
}

/**
 * First line of a script that has to run when Redis is full. Redis refuses a script the first command that may need
 * memory unless it has written before, and deleting what is not there is a write that needs none. Unlike the flag
 * `allow-oom` of Redis 7 this can depend on arguments, and holds from 6.2 on.
 */
export const EVEN_WHEN_FULL = `redis.call('DEL', 'quire:nothing')`;

/**
 * A Lua script, always sent whole: one sent by its digest is sent again after a server that has forgotten it, and comes
 * behind what was sent after it. Redis takes half a microsecond more for it, a connection one or two kilobytes.
 *
 * @param options.evenWhenFull it removes more than it writes, or writes so little that it has to be done at `maxmemory`
 */
export function defineScript<Reply>(source: string, options: { readonly evenWhenFull?: true } = {}) {
  const script = options.evenWhenFull ? `${EVEN_WHEN_FULL}\n${source}` : source;
  return {
    run: async (redis: Redis, call: ScriptCall): Promise<Reply> =>
      // @NOTE the reply's type is what the script above returns; Redis does not tell.
      (await redis.eval(script, call)) as Reply,
  };
}

/**
 * A wrong command is our bug and stays as it is; what a Redis that is away, loading, full or too slow makes a call
 * reject with becomes an UnavailableError. Knows the errors of node-redis, ioredis and BullMQ.
 */
export function toUnavailable(error: unknown): unknown {
  if (!isError(error)) return error;
  const isReply = error instanceof ErrorReply || error.name === 'ReplyError';
  const isAway = isReply ? isPassingReply(error) : isConnectionError(error);
  return isAway ? new UnavailableError('redis', { cause: error }) : error;
}

/** Replies of a server that cannot serve now; before Redis 7, a script's come wrapped in another. */
const PASSING_REPLY =
  /^(?:ERR .* -)?(?:LOADING|OOM|MISCONF|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|EXECABORT)\b|^ERR max number of clients/s;

function isPassingReply(error: Error): boolean {
  const replies: readonly Error[] =
    error instanceof MultiErrorReply ? [...error.errors()].filter(isError) : [error];
  return replies.some(({ message }) => PASSING_REPLY.test(message));
}

/** Also for errors of another realm, such as Node's own within a VM context. */
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
  ConnectionClosedError,
];

/** What ioredis does not export a class for: by name, and for plain errors by their whole message. */
const CONNECTION_ERROR_NAMES = ['MaxRetriesPerRequestError'];
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
    SOCKET_ERROR_CODES.includes(code)
  );
}
