import type { Redis } from '../shared/redis/client.js';

const INTERVAL_MILLISECONDS = 1_000;
/** Ticks without an answer after which a connection is given up, and those after which a new one is not waited for. */
const SILENT_TICKS = 5;
const CONNECTING_TICKS = 10;

/**
 * Gives up connections to a Redis that takes commands and never answers, since the client waits for as long: what waits
 * is rejected, and a new connection made. Returns what ends the watch.
 */
export function watchRedis(redis: Redis, onError: (error: Error) => void): () => void {
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
        // That it failed was told to whoever listens for errors of the connection.
        () => undefined,
      );
    }
  }, INTERVAL_MILLISECONDS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
