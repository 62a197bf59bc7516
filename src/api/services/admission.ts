import { AppError } from '../../shared/errors.js';
import { keys, toMember } from '../../shared/keys.js';
import type { Redis } from '../../shared/redis.js';

/** Lets a caller's next ingest in. @throws AppError 429 or 503 with Retry-After */
export type Admit = (callerId: string) => Promise<void>;

export interface AdmissionLimits {
  /** Documents being ingested, of all callers together, and of one. */
  readonly maxWaiting: number;
  readonly maxWaitingPerCaller: number;
  /** Of Redis's `maxmemory`. */
  readonly maxMemoryShare: number;
}

/** Long enough for a full service to get some of its work done. */
const RETRY_AFTER_SECONDS = 30;
const MEMORY_KNOWN_MILLISECONDS = 1_000;

/**
 * Refuses what could only be put at the end of a queue that is too long already, or into a Redis that is nearly full:
 * what is searched, deleted or closed to somebody must still find room. The counts are exact; requests that are let in
 * at the same moment may go past the limit by their number.
 */
export function createAdmission(redis: Redis, limits: AdmissionLimits): Admit {
  const isFull = createMemoryWatch(redis, limits.maxMemoryShare);
  return async (callerId) => {
    const [all, own, full] = await Promise.all([
      redis.hLen(keys.ingests),
      redis.zScore(keys.ingestsByCaller, toMember(callerId)),
      isFull(),
    ]);
    if ((own ?? 0) >= limits.maxWaitingPerCaller)
      throw refusal(429, 'Too many of your documents are waiting to be ingested');
    if (all >= limits.maxWaiting) throw refusal(503, 'Too many documents are waiting to be ingested');
    if (full) throw refusal(503, 'There is no room for more documents');
  };
}

function refusal(status: 429 | 503, detail: string): AppError {
  return new AppError(status, detail, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}

/** Asks at most once a second, however many ask. */
function createMemoryWatch(redis: Redis, maxShare: number): () => Promise<boolean> {
  let last: { readonly at: number; readonly isFull: Promise<boolean> } | null = null;
  const look = async () => {
    const info = await redis.info('memory');
    const [used, most] = [figure(info, 'used_memory'), figure(info, 'maxmemory')];
    return most > 0 && used >= maxShare * most;
  };
  return () => {
    const now = performance.now();
    if (!last || now - last.at >= MEMORY_KNOWN_MILLISECONDS) last = { at: now, isFull: look() };
    return last.isFull;
  };
}

function figure(info: string, name: string): number {
  const line = info.split('\r\n').find((each) => each.startsWith(`${name}:`));
  return Number(line?.slice(name.length + 1) ?? 0);
}
