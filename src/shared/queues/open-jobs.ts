import { waitForRedis } from '../redis/open.js';
import { createJobs, type Jobs } from './jobs.js';
import { LANES } from './lanes.js';

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
      // Closing says goodbye to Redis, which fails while it is away: a queue that had connected would go on connecting for
      // ever. Nothing waits for the end, which a queue that is being closed may never report.
      void Promise.allSettled(LANES.map((name) => jobs.queue(name).disconnect()));
      // The first error is the reason to open the queues again.
      await Promise.allSettled([jobs.close()]);
      throw error;
    }
  }, waiting);
}
