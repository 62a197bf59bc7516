import { waitForRedis } from '../redis/open.js';
import { createJobs, LANES, type Jobs } from './jobs.js';

type Waiting = Parameters<typeof waitForRedis>[1];

/**
 * Opens the queues and waits for their connections, so that adding jobs fails fast from then on. It waits
 * while Redis is away, and also when Redis goes away while the queues connect: a queue whose first
 * connection broke stays broken, so that all of them are opened again.
 */
export function openJobs(options: Parameters<typeof createJobs>[0], waiting: Waiting): Promise<Jobs> {
  return waitForRedis(async () => {
    const jobs = createJobs(options);
    try {
      await Promise.all(LANES.map((name) => jobs.queue(name).waitUntilReady()));
      return jobs;
    } catch (error) {
      // A queue that cannot be closed has no connection any more. The first error is the reason to open the queues again.
      await Promise.allSettled([jobs.close()]);
      throw error;
    }
  }, waiting);
}
