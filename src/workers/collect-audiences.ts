import { createAudiences } from '../shared/audiences.js';
import type { Redis } from '../shared/redis.js';

/** Tags of chunks may name an audience for longer than a record does: those of a re-tagging that was overtaken. */
const GRACE_MS = 3_600_000;

/** Removes large audiences that no record has referred to for an hour. */
export async function collectAudiences(redis: Redis, now: number): Promise<void> {
  await createAudiences(redis).collect(now - GRACE_MS);
}
