import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { untilAborted } from '../tools/aborting.js';
import { createRedis, toUnavailable, type Redis } from './client.js';

const RETRY_MILLISECONDS = 500;
const TELL_EVERY_MILLISECONDS = 30_000;

interface Waiting {
  readonly logger: Pick<Logger, 'warn'>;
  /** Aborts the wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` again and again as long as Redis is away, loading its data or busy, and logs this at
 * once and then twice a minute. Any other error ends it.
 */
export function waitForRedis<Result>(
  work: () => Promise<Result>,
  { logger, signal }: Waiting,
): Promise<Result> {
  return retryWork(work, createNotice(logger), signal);
}

async function retryWork<Result>(
  work: () => Promise<Result>,
  tell: (error: unknown) => void,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (!(toUnavailable(error) instanceof UnavailableError)) throw error;
      tell(error);
      await sleep(RETRY_MILLISECONDS, undefined, { signal });
    }
  }
}

interface OpenOptions extends Waiting {
  readonly failFast: boolean;
  /** Called with errors after the connection was opened. */
  readonly onError: (error: Error) => void;
  /** Called when it turns out that Redis has to be waited for. */
  readonly onAway?: () => void;
}

/** Connects, and runs `read`, which needs a server that is ready; waits for both as long as it takes. */
export async function openRedis<Data>(
  url: string,
  { failFast, onError, onAway, logger, signal }: OpenOptions,
  read: (redis: Redis) => Promise<Data>,
): Promise<{ redis: Redis; data: Data }> {
  const notice = createNotice(logger);
  const tell = (error: unknown) => {
    notice(error);
    onAway?.();
  };
  let isOpen = false;
  const onTrouble = (error: Error) => {
    if (isOpen) onError(error);
    else tell(error);
  };
  const redis = createRedis(url, { failFast, onError: onTrouble });
  try {
    // The process may have been asked to stop before this.
    signal?.throwIfAborted();
    await untilAborted(redis.connect(), signal);
    const data = await retryWork(() => read(redis), tell, signal);
    isOpen = true;
    return { redis, data };
  } catch (error) {
    redis.destroy();
    throw error;
  }
}

function createNotice(logger: Waiting['logger']): (error: unknown) => void {
  let told = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - told < TELL_EVERY_MILLISECONDS) return;
    told = performance.now();
    logger.warn({ err: error }, 'waiting for redis');
  };
}

const TICK_MILLISECONDS = 1_000;
/** Seconds without an answer after which a connection is replaced, and seconds that connecting may take. */
const SILENT_TICKS = 5;
const CONNECTING_TICKS = 10;

/**
 * Replaces the connection to a Redis that accepts commands and never answers, because the client itself would wait
 * without limit. Commands that wait are rejected. Returns a function that ends the watch.
 */
export function reconnectSilentRedis(redis: Redis, onError: (error: Error) => void): () => void {
  let silentTicks = 0;
  const reconnect = () => {
    silentTicks = 0;
    redis.destroy();
    redis.connect().catch(onError);
  };
  const timer = setInterval(() => {
    if (!redis.isOpen) return;
    silentTicks += 1;
    if (silentTicks > (redis.isReady ? SILENT_TICKS : CONNECTING_TICKS)) reconnect();
    else if (redis.isReady && silentTicks === 1) {
      redis.ping().then(
        () => {
          silentTicks = 0;
        },
        // The connection's own error listener has reported the failure.
        () => undefined,
      );
    }
  }, TICK_MILLISECONDS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
