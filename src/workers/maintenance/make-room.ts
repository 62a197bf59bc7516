import { addTo, sumOf } from '../../shared/at.js';
import type { DiskWatch, Disks } from '../../shared/disk/disk-watch.js';
import type { Records } from '../../shared/documents/records.js';
import { giveBack } from '../../shared/documents/transitions.js';
import type { Logger } from '../../shared/observability/logger.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import { takeLease } from '../../shared/redis/lease.js';
import { figure, type MemoryWatch } from '../../shared/redis/memory.js';
import { lookRegularly } from '../../shared/tools/repeat.js';
import { takeBackScript } from '../ingestion/room/room-scripts.js';

const LOOK_EVERY_MILLISECONDS = 1_000;
/** A shortage that passes by itself is waited for: removals under way, or a document that is published in place of another. */
const SHORT_MILLISECONDS = 3_000;
/** Data that was taken back is removed meanwhile, so that one document at a time loses its data. */
const PAUSE_MILLISECONDS = 3_000;
/** A document that was begun in vain waits for this much more room than it had. */
const MORE = 1.5;
/** Documents without a reservation are small, or Redis has lost it: several are taken at once. */
const UNRESERVED_ONES = 50;
/** The number of documents that are looked at in a step. There may be tens of thousands, most of them queued. */
const LOOK_AT_ONCE = 1_000;

interface TakingParts {
  readonly redis: Redis;
  readonly records: Pick<Records, 'readStates' | 'update'>;
  readonly jobs: Pick<Jobs, 'addIngest' | 'addCleans'>;
  readonly metrics: Pick<WorkerMetrics, 'add'>;
  readonly logger: Logger;
}

interface Parts extends TakingParts {
  readonly disks: Pick<Disks, 'redis'>;
  readonly memory: MemoryWatch;
  readonly metrics: WorkerMetrics;
}

/**
 * Takes back the memory of half-written documents while Redis is short of memory, so that no document stands still with
 * room that others could use. Queues are paused then, so that documents cannot give back by themselves. The document of the
 * caller who has reserved most goes first. It waits in the queue, without holding anything, until there is more room than
 * it had.
 */
export function startMakingRoom(parts: Parts): { close(): void } {
  const { memory, disks, logger } = parts;
  let shortSince: number | null = null;
  const look = async () => {
    const shortage = await memory.shortage();
    if (shortage === null) {
      shortSince = null;
      return;
    }
    shortSince ??= performance.now();
    if (performance.now() - shortSince < SHORT_MILLISECONDS) return;
    if (shortage === 'memory') await makeRoom(parts);
    // Taking documents back does not shrink a file that is appended to.
    if ((await disks.redis?.isShort()) === true) await rewriteRedisFiles(parts);
  };
  return lookRegularly(LOOK_EVERY_MILLISECONDS, look, (error) => {
    logger.warn({ err: error }, 'no room is made in Redis');
  });
}

/** Takes back the document that is to go first, or several without a reservation. */
export async function makeRoom(parts: TakingParts): Promise<void> {
  const lease = await takeLease(parts.redis, {
    key: keys.roomLease,
    pauseKey: keys.roomPause,
    pauseMilliseconds: PAUSE_MILLISECONDS,
    milliseconds: 10 * PAUSE_MILLISECONDS,
  });
  if (!lease) return;
  try {
    for (const id of await reservedDocuments(parts.redis)) if (await takeBack(parts, id)) return;
    await takeBackUnreserved(parts);
  } finally {
    await lease.release();
  }
}

/**
 * Returns documents that have reserved room: first the documents of the caller who has most of it, and of these the largest
 * first.
 */
async function reservedDocuments(redis: Redis): Promise<string[]> {
  const reserved = Object.entries(await redis.hGetAll(keys.reservedRoom));
  if (reserved.length === 0) return [];
  const callers = await redis.hmGet(
    keys.ingests,
    reserved.map(([id]) => id),
  );
  const documents = reserved.map(([id, value], i) => ({
    id,
    caller: callers[i] ?? '',
    // Earlier versions noted the bytes alone.
    bytes: Number(value.split(':')[1] ?? value),
  }));
  const most = new Map<string, number>();
  for (const { caller, bytes } of documents) addTo(most, caller, bytes);
  return documents
    .sort((a, b) => sumOf(most, b.caller) - sumOf(most, a.caller) || b.bytes - a.bytes)
    .map(({ id }) => id);
}

/** Takes back the newest documents first, so that nearly whole ones come to their end. */
async function takeBackUnreserved(parts: TakingParts): Promise<void> {
  const { redis, records } = parts;
  const unfinished = await redis.zRange(keys.unfinished, 0, -1, { REV: true });
  let taken = 0;
  for (let first = 0; first < unfinished.length; first += LOOK_AT_ONCE) {
    const ids = unfinished.slice(first, first + LOOK_AT_ONCE);
    const states = await records.readStates(ids);
    for (const id of ids.filter((_, i) => states[i]?.status === 'processing')) {
      if (await takeBack(parts, id)) taken += 1;
      if (taken >= UNRESERVED_ONES) return;
    }
  }
}

/** Resolves with whether the document had begun to write. */
async function takeBack(parts: TakingParts, id: string): Promise<boolean> {
  const { redis, records, jobs, metrics, logger } = parts;
  const { record, changed, discarded } = await records.update(id, giveBack);
  if (!record || !changed) return false;
  await takeBackScript.run(redis, {
    keys: { reserved: keys.reservedRoom, waiting: keys.waitingForRoom },
    args: { id, more: MORE },
  });
  metrics.add('quire_ingests_taken_back_total', {});
  logger.warn({ documentId: id }, 'Redis is nearly full: what an ingest has written is taken back');
  await jobs.addCleans(discarded, record.ownerId);
  await jobs.addIngest(record, { requestId: 'room', isPatient: true });
  return true;
}

/** Writing the files anew takes the disk minutes where they are large. Much growth is not waited for. */
const REWRITE_PAUSE_MILLISECONDS = 600_000;
/** The growth since the last rewriting below which another one saves nothing. */
const MIN_GROWTH = 65_536;
/** The part of the spare bytes that has to be left even if the new files become as large as the old ones. */
const LEFT_OF_SPARE = 1 / 4;
/** The growth since the last rewriting, as a part of the spare bytes, that is much: they would be used up in a few pauses. */
const MUCH_OF_SPARE = 1 / 4;

interface RewriteParts {
  readonly redis: Redis;
  readonly disks: { readonly redis: Pick<DiskWatch, 'state'> | null };
  readonly logger: Logger;
}

/**
 * Lets Redis write its append-only files anew while their disk is short. Removed data leaves them only then, and Redis by
 * itself waits until they are twice as large as before, which they never become while nothing that grows is taken.
 */
export async function rewriteRedisFiles({ redis, disks, logger }: RewriteParts): Promise<void> {
  const state = await disks.redis?.state();
  if (!state) return;
  const spare = state.least - state.rewrite;
  if (state.free - state.rewrite < LEFT_OF_SPARE * spare) return;
  const info = await redis.info('persistence');
  if (figure(info, 'aof_enabled') === 0 || figure(info, 'aof_rewrite_in_progress') === 1) return;
  const growth = figure(info, 'aof_current_size') - figure(info, 'aof_base_size');
  if (growth < MIN_GROWTH) return;
  const pause = { expiration: { type: 'PX', value: REWRITE_PAUSE_MILLISECONDS }, condition: 'NX' } as const;
  const isPause = (await redis.set(keys.rewritePause, '1', pause)) === null;
  if (isPause && growth < MUCH_OF_SPARE * spare) return;
  logger.warn(state, 'the disk of Redis is nearly full: it writes its files anew, without what was removed');
  await redis.bgRewriteAof();
}
