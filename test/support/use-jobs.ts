import { afterAll } from '@jest/globals';
import { createJobs, type Jobs } from '../../src/shared/queues/jobs.js';
import { bullConnection, type Redis } from '../../src/shared/redis/client.js';

/** Queues on the Redis of `useTestRedis`, for the tests of a file or of a `describe`. Each is opened when it is first used. */
export function useJobs({ url, redis }: { readonly url: string; readonly redis: Redis }): Jobs {
  const connection = bullConnection(url, { failFast: false });
  const jobs = createJobs({ connection, redis, onError: () => undefined });
  afterAll(() => jobs.close());
  return jobs;
}
