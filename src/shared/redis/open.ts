import { setTimeout as sleep } from 'node:timers/promises';
import { UnavailableError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import { untilAborted } from '../until-aborted.js';
import { createRedis, toUnavailable, type Redis } from './client.js';

const RETRY_MILLISECONDS = 500;
const TELL_EVERY_MILLISECONDS = 30_000;

interface Waiting {
  readonly logger: Pick<Logger, 'warn'>;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does `work`, again and again as long as Redis is away, loads its data or is busy, and says so at once and then twice a
 * minute. Any other error ends it.
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
  /** Told of what breaks once it is open. */
  readonly onError: (error: Error) => void;
  /** Told when it turns out that there is something to wait for. */
  readonly onAway?: () => void;
}

/** Connects, and reads with `read` what only a server that serves can answer; waits for both as long as it takes. */
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
    // It may have been asked to stop before this.
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
