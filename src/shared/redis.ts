import { createHash } from 'node:crypto';
import { createClient, ErrorReply } from 'redis';
import { UnavailableError } from './errors.js';

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
    ...(options.failFast ? { commandOptions: { timeout: 5_000 } } : {}),
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

/** A Lua script, sent by its digest and whole only when the server does not know it. */
export function defineScript<Reply>(source: string) {
  const digest = createHash('sha1').update(source).digest('hex');
  return {
    run: async (redis: Redis, call: ScriptCall): Promise<Reply> => {
      try {
        // @NOTE the reply's type is what the script above returns; Redis does not tell.
        return (await redis.evalSha(digest, call)) as Reply;
      } catch (error) {
        if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error;
        return (await redis.eval(source, call)) as Reply;
      }
    },
  };
}

/** A wrong command is our bug; anything else that a Redis call rejects with is a Redis that cannot serve now. */
export function toUnavailable(error: unknown): unknown {
  if (
    error instanceof ErrorReply &&
    !/^(LOADING|OOM|MISCONF|READONLY|MASTERDOWN|CLUSTERDOWN|BUSY)/.test(error.message)
  ) {
    return error;
  }
  return isConnectionError(error) || error instanceof ErrorReply
    ? new UnavailableError('redis', { cause: error })
    : error;
}

const CONNECTION_ERRORS =
  /closed|ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|offline|Socket|Connection|timeout|max retries/i;

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return CONNECTION_ERRORS.test(`${error.name} ${code} ${error.message}`);
}
