import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';

/*
 * How many documents wait to be ingested or are being ingested, in all and by caller. The counts are exact: the commit
 * script changes them in the step that writes a record (`commit-script.ts`).
 */

/** Returns the number of unfinished ingests of all callers. */
export const countUnfinishedIngests = (redis: Redis): Promise<number> => redis.hLen(keys.ingests);

/** Returns the number of unfinished ingests of one caller. */
export async function countUnfinishedIngestsOf(redis: Redis, callerId: string): Promise<number> {
  return (await redis.zScore(keys.ingestsByCaller, toMember(callerId))) ?? 0;
}

/** Returns the numbers of unfinished ingests of all callers and of one, both without some documents, at one moment. */
export async function countOtherUnfinishedIngests(
  redis: Redis,
  callerId: string,
  without: readonly string[],
): Promise<{ all: number; own: number }> {
  const caller = toMember(callerId);
  const counts = redis.multi().hLen(keys.ingests).zScore(keys.ingestsByCaller, caller);
  // HMGET takes at least one field.
  const [all, own, callers] = await counts.hmGet(keys.ingests, ['', ...without]).execTyped();
  const counted = callers.filter((each) => each !== null);
  return {
    all: all - counted.length,
    own: (own ?? 0) - counted.filter((each) => each === caller).length,
  };
}

/** Returns the number of callers who have unfinished ingests, and how many the caller has who has the most. */
export async function countIngestingCallers(redis: Redis): Promise<{ callers: number; most: number }> {
  const [callers, [busiest]] = await Promise.all([
    redis.zCard(keys.ingestsByCaller),
    redis.zRangeWithScores(keys.ingestsByCaller, 0, 0, { REV: true }),
  ]);
  return { callers, most: busiest?.score ?? 0 };
}
