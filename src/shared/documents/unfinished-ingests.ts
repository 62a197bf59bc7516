import type { Redis } from '../redis/client.js';
import { keys, toMember } from '../redis/keys.js';

/*
 * The numbers of documents that wait to be ingested or are being ingested, in all and by caller. The counts are exact: the
 * commit script changes them in the step that writes a record (`commit/commit.ts`).
 */

/** Returns the number of unfinished ingests of all callers. */
export const countUnfinishedIngests = (redis: Redis): Promise<number> => redis.hLen(keys.ingests);

/** Returns the number of unfinished ingests of one caller. */
export async function countUnfinishedIngestsOf(redis: Redis, callerId: string): Promise<number> {
  return (await redis.zScore(keys.ingestsByCaller, toMember(callerId))) ?? 0;
}

/** Unfinished ingests, all counted at one moment. */
export interface UnfinishedIngests {
  readonly all: number;
  /** In the order of the callers that were asked for. */
  readonly own: readonly number[];
  /**
   * The caller whom each of the requested documents is counted for, as a member (`toMember`); null for one that is not
   * counted.
   */
  readonly countedOf: readonly (string | null)[];
}

/** Counts the unfinished ingests of all callers and of some of them, one at least, and looks some documents up there. */
export async function readUnfinishedIngests(
  redis: Redis,
  callerIds: readonly string[],
  documentIds: readonly string[],
): Promise<UnfinishedIngests> {
  const counts = redis.multi().hLen(keys.ingests).zmScore(keys.ingestsByCaller, callerIds.map(toMember));
  // HMGET takes at least one field.
  const [all, own, [, ...countedOf]] = await counts.hmGet(keys.ingests, ['', ...documentIds]).execTyped();
  return { all, own: own.map((score) => score ?? 0), countedOf };
}

/** Returns the number of callers who have unfinished ingests, and how many the caller has who has the most. */
export async function countIngestingCallers(redis: Redis): Promise<{ callers: number; most: number }> {
  const [callers, [busiest]] = await Promise.all([
    redis.zCard(keys.ingestsByCaller),
    redis.zRangeWithScores(keys.ingestsByCaller, 0, 0, { REV: true }),
  ]);
  return { callers, most: busiest?.score ?? 0 };
}
