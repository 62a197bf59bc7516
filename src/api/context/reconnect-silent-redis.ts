import type { Redis } from '../../shared/redis/client.js';

const INTERVAL_MILLISECONDS = 1_000;
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
  }, INTERVAL_MILLISECONDS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
