import { createRedis, type Redis } from '../../src/shared/redis/client.js';

/** Opens a connection to the service's Redis for as long as it is used. */
export async function withRedis<Result>(
  url: string,
  use: (redis: Redis) => Promise<Result>,
): Promise<Result> {
  const redis = createRedis(url, { failFast: false, onError: () => undefined });
  await redis.connect();
  try {
    return await use(redis);
  } finally {
    redis.destroy();
  }
}
