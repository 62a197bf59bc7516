import type { Caches } from '../shared/caches.js';
import { batchCount, type Chunks } from '../shared/chunks.js';
import { generationId, type DocumentRecord } from '../shared/document.js';
import { jobIds, type Jobs, type QueueName } from '../shared/jobs.js';
import { keys } from '../shared/keys.js';
import type { Records } from '../shared/records.js';
import type { Redis } from '../shared/redis.js';
import { requeue, type Fence } from '../shared/transitions.js';
import { collectAudiences } from './collect-audiences.js';
import type { RemoveObjects } from './remove-objects.js';

const TOMBSTONE_MS = 86_400_000;
const PAGE = 500;

interface Parts {
  readonly redis: Redis;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly caches: Caches;
  readonly removeObjects: RemoveObjects;
  /** A record is left alone this long after its last change: its next job may be on its way. */
  readonly graceMs: number;
}

/**
 * Finds what no job looks after any more, because a process died at the wrong moment or the queue was lost, and
 * gives it a job again. The records are the truth, the queue is only the way.
 */
export function createSweep(parts: Parts) {
  const { redis, jobs, removeObjects, graceMs } = parts;
  return async () => {
    const now = Date.now();
    const found = await sweepDocuments(parts, now - graceMs);
    await sweepCaches(parts, now - graceMs);
    await discardStrays(parts, now);
    await collectAudiences(redis, now);
    await jobs.addCleans(await redis.sMembers(keys.garbage));
    await removeObjects();
    const buried = await redis.zRangeByScore(keys.tombstones, 0, now - TOMBSTONE_MS);
    if (buried.length > 0)
      await redis.multi().zRem(keys.changes, buried).zRem(keys.tombstones, buried).exec();
    return found;
  };
}

async function sweepDocuments(parts: Parts, before: number) {
  const { redis, records, jobs } = parts;
  let requeued = 0;
  const ids = await redis.zRangeByScore(keys.unfinished, 0, before);
  for (let at = 0; at < ids.length; at += PAGE) {
    for (const record of await records.readMany(ids.slice(at, at + PAGE))) {
      if (!record) continue;
      if (record.retag > 0) await jobs.addRetag(record.id, record.retag, 'sweep');
      if (record.pending && (await isAbandoned(parts, record)))
        requeued += await requeueDocument(parts, record);
    }
  }
  return { unfinished: ids.length, requeued };
}

async function requeueDocument({ records, jobs }: Parts, found: DocumentRecord): Promise<number> {
  const { record, changed } = await records.update(found.id, (each) =>
    each.revision === found.revision ? requeue(each) : null,
  );
  if (!record || !changed) return 0;
  const { id: documentId, version, attempt } = record;
  await jobs.addIngest({ documentId, version, attempt }, 'sweep');
  return 1;
}

/** Whether a document that is not final has neither an ingest job nor all the embed jobs it still needs. */
async function isAbandoned({ chunks, jobs }: Parts, record: DocumentRecord): Promise<boolean> {
  if (record.status !== 'queued' && record.status !== 'processing') return false;
  const fence: Fence = { documentId: record.id, version: record.version, attempt: record.attempt };
  if (await isLive(jobs, 'ingestion', jobIds.ingest(fence))) return false;
  const generation = generationId(record);
  const batches = batchCount((await chunks.generation(generation))?.chunks ?? 0);
  for (let batch = 0; batch < batches; batch += 1) {
    if (await chunks.isFinished(generation, batch)) continue;
    if (!(await isLive(jobs, 'embedding', jobIds.embed(fence, batch)))) return true;
  }
  return batches === 0 || !(await isAnyEmbedLive(jobs, fence, batches));
}

/** All batches are embedded, yet it is not published: the job of one of them must still be about to do it. */
async function isAnyEmbedLive(jobs: Jobs, fence: Fence, batches: number): Promise<boolean> {
  for (let batch = 0; batch < batches; batch += 1) {
    if (await isLive(jobs, 'embedding', jobIds.embed(fence, batch))) return true;
  }
  return false;
}

async function isLive(jobs: Jobs, queue: QueueName, id: string): Promise<boolean> {
  const state = await jobs.queue(queue).getJobState(id);
  return state !== 'unknown' && state !== 'completed' && state !== 'failed';
}

async function sweepCaches({ caches, jobs }: Parts, before: number): Promise<void> {
  for (const key of await caches.building(before)) {
    const cache = await caches.readBuilding(key);
    if (!cache?.building || (await isLive(jobs, 'cache', jobIds.cache(cache.building.build)))) continue;
    const { ownerId, name, building } = cache;
    await jobs.addCacheBuild({ ownerId, name, build: building.build, requestId: 'sweep' });
  }
}

/** Hidden generations that are no attempt of any unfinished document: left by a run that was overtaken. */
async function discardStrays({ redis, records }: Parts, now: number): Promise<void> {
  for await (const page of redis.sScanIterator(keys.hidden, { COUNT: PAGE })) {
    const garbage = await Promise.all(page.map((generation) => redis.sIsMember(keys.garbage, generation)));
    const strays = page.filter((_, i) => !garbage[i]);
    const ids = strays.map((generation) => generation.split('.')[0] ?? '');
    const owners = await records.readMany(ids);
    for (const [i, generation] of strays.entries()) {
      const record = owners[i];
      const [, version] = generation.split('.').map(Number);
      if (record?.version === version && record?.pending) continue;
      // Published since the page was read: no stray at all.
      if (record?.published?.generation === generation) continue;
      await redis
        .multi()
        .sAdd(keys.garbage, generation)
        .hSet(keys.generation(generation), { discarded: String(now) })
        .exec();
    }
  }
}
