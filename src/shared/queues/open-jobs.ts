import { waitForRedis } from '../redis/open.js';
import { createJobs, LANES, type Jobs } from './jobs.js';

type Waiting = Parameters<typeof waitForRedis>[1];

/**
 * Queues whose connections are there, so that what is added from now on fails fast. Waits for a Redis that is away, and
 * also for one that goes away while they connect: a queue whose first connection broke stays broken, so that all of them
 * are opened again.
 */
export function openJobs(options: Parameters<typeof createJobs>[0], waiting: Waiting): Promise<Jobs> {
  return waitForRedis(async () => {
    const jobs = createJobs(options);
    try {
      await Promise.all(LANES.map((name) => jobs.queue(name).waitUntilReady()));
      return jobs;
    } catch (error) {
      // What cannot be closed has no connection any more; the reason to open them again is the first error.
      await Promise.allSettled([jobs.close()]);
      throw error;
    }
  }, waiting);
}
