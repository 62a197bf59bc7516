import { setTimeout as sleep } from 'node:timers/promises';
import { createRecords } from '../../src/shared/documents/records.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Arena } from './arena.js';
import { withRedis } from './with-redis.js';

const LOOK_EVERY_MS = 500;
/** While documents of callers wait, one of them becomes final in this time, whatever goes wrong meanwhile. */
const PROGRESS_MS = 120_000;

/** The time for which documents were unfinished, as far as a look now and then showed it. */
export interface Progress {
  /** Documents that were seen to become final. */
  final: number;
  longestMs: number;
  /** The longest time in which some waited and none became final. */
  longestHaltMs: number;
}

/** Looks at the unfinished documents of all but `strangers` until it is told to stop. */
export async function watchProgress(
  arena: Arena,
  strangers: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Progress> {
  const progress: Progress = { final: 0, longestMs: 0, longestHaltMs: 0 };
  /** Since when each is known, by its id. */
  const known = new Map<string, number>();
  const foreign = new Set<string>();
  let lastFinal = performance.now();
  await withRedis(arena.cluster.redis.url, async (redis) => {
    while (!signal.aborted) {
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      const unfinished = new Set(await redis.zRange(keys.unfinished, 0, -1).catch(() => known.keys()));
      const now = performance.now();
      for (const [id, since] of known) {
        if (unfinished.has(id)) continue;
        known.delete(id);
        progress.final += 1;
        progress.longestMs = Math.max(progress.longestMs, now - since);
        lastFinal = now;
      }
      if (known.size === 0) lastFinal = now;
      const fresh = [...unfinished].filter((id) => !known.has(id) && !foreign.has(id));
      for (const [id, owner] of await ownersOf(redis, fresh)) {
        if (strangers.has(owner)) foreign.add(id);
        else known.set(id, now);
      }
      checkHalt(arena, progress, { haltMs: now - lastFinal, waiting: known.size });
    }
  });
  return progress;
}

function checkHalt(
  { history }: Arena,
  progress: Progress,
  { haltMs, waiting }: { readonly haltMs: number; readonly waiting: number },
): void {
  if (haltMs > PROGRESS_MS && progress.longestHaltMs <= PROGRESS_MS)
    history.violate(
      'documents become final between the faults',
      `none of ${String(waiting)} in ${String(PROGRESS_MS / 1000)} s`,
    );
  progress.longestHaltMs = Math.max(progress.longestHaltMs, haltMs);
}

/** None where Redis is away: they are asked for again. */
async function ownersOf(redis: Redis, ids: readonly string[]): Promise<[id: string, owner: string][]> {
  const records = await createRecords(redis)
    .readMany(ids)
    .catch(() => []);
  return records.flatMap((record) => (record ? [[record.id, record.ownerId]] : []));
}
