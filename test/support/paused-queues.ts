import { LANES, openQueue, type LaneName } from '../../src/shared/queues/lanes.js';

/** Does something while workers begin no job of these queues, as if they were away. */
export async function whilePaused(
  redisUrl: string,
  names: readonly LaneName[],
  action: () => Promise<void>,
): Promise<void> {
  const queues = names.map((name) => openQueue(name, { url: redisUrl }));
  await Promise.all(queues.map((queue) => queue.pause()));
  try {
    await action();
  } finally {
    await Promise.all(queues.map((queue) => queue.resume()));
    await Promise.all(queues.map((queue) => queue.close()));
  }
}

/** The lanes of a kind of work, quick ones included. */
export const lanesOf = (kind: string) => LANES.filter((lane) => lane.startsWith(kind));
