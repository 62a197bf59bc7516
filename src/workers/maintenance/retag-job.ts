import { batchCount, batchNumbers } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks/chunks.js';
import type { DiskWatch } from '../../shared/disk/disk-watch.js';
import { generationId, type DocumentRecord } from '../../shared/document.js';
import type { ExpectedField } from '../../shared/documents/change.js';
import { documentTags } from '../../shared/documents/record-fields.js';
import type { Records } from '../../shared/documents/records.js';
import { statisticsOwner, finishRetag } from '../../shared/documents/transitions.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';
import { isSettled, settledField } from '../../shared/term-statistics/count-steps.js';
import type { TermStatisticsStore } from '../../shared/term-statistics/term-statistics.js';
import { updateTermCounts } from '../ingestion/update-term-counts.js';
import { writeOnlyWithMemory } from '../ingestion/write-only-with-memory.js';
import {
  expectedTags,
  shownNow,
  shownWhenPublished,
  writeAllTags,
  tagsWhenPublished,
  type Shown,
} from '../ingestion/write-tags.js';
import { endless, type AfterStep } from '../job-turn.js';
import type { Outcome } from '../lane-worker.js';

interface RetagParts {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly statistics: TermStatisticsStore;
}

interface RetagRequest {
  readonly documentId: string;
  readonly mark: number;
}

/**
 * Updates the tags of a document's chunks, their terms of its file's name, and its owner's term statistics. The generation
 * holds its progress, so that a job that is run again continues there.
 * @param afterStep called after each batch
 */
export function createRetagJob(parts: RetagParts) {
  const { records } = parts;
  return async ({ documentId, mark }: RetagRequest, afterStep: AfterStep = endless): Promise<Outcome> => {
    let expected: ExpectedField[] = [];
    // The record may change in the meantime, by a request whose own job has already run, so it is read again.
    for (let written: string | null = null; ;) {
      const record = await records.read(documentId);
      if (record === null || (written === null && record.retag !== mark)) return 'stale';
      const shown = JSON.stringify([shownNow(record), shownWhenPublished(record)]);
      if (shown === written) break;
      expected = await retagGenerations({ ...parts, afterStep }, record);
      written = shown;
    }
    await records.update(documentId, (each) => {
      const change = finishRetag(each, mark);
      return change && { ...change, expected };
    });
    return 'done';
  };
}

type TurnParts = RetagParts & { readonly afterStep: AfterStep };

/** Returns the fields that show that the published and the pending generation are done. */
async function retagGenerations(parts: TurnParts, record: DocumentRecord): Promise<ExpectedField[]> {
  const { published, pending } = record;
  const serving = published?.generation
    ? await retagGeneration(parts, record, { generation: published.generation, shownBy: shownNow })
    : [];
  const coming = pending
    ? await retagGeneration(parts, record, { generation: generationId(record), shownBy: shownWhenPublished })
    : [];
  return [...serving, ...coming];
}

async function retagGeneration(
  { records, chunks, statistics, afterStep }: TurnParts,
  record: DocumentRecord,
  { generation, shownBy }: { generation: string; shownBy: (of: DocumentRecord) => Shown },
): Promise<ExpectedField[]> {
  const { id: documentId } = record;
  const { chunks: count = 0 } = (await chunks.generation(generation)) ?? {};
  if (count === 0) return [];
  if (!(await writeAllTags({ records, chunks }, record, { generation, count, shownBy, afterStep })))
    return [];
  const owner = statisticsOwner(record);
  const settled: ExpectedField[] = [];
  const states = await statistics.states(generation, batchCount(count));
  for (const [batch, state] of states.entries()) {
    const readTerms = () => chunks.readTerms(generation, batchNumbers(batch, count));
    const wasDone = isSettled(state, owner);
    const isDone =
      wasDone ||
      (await updateTermCounts({ records, statistics }, { documentId, generation, batch }, readTerms));
    if (isDone) settled.push({ generation, ...settledField(batch, owner) });
    // A batch that cannot be counted yet is not a step, because a turn of such batches alone would achieve nothing.
    if (isDone && !wasDone) afterStep();
  }
  return [expectedTags(generation, shownBy(record), count), ...settled];
}

interface RetagMemoryParts {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly statistics: TermStatisticsStore;
  readonly memory: MemoryWatch;
  readonly disks: { readonly redis: Pick<DiskWatch, 'isShort'> | null };
  readonly redis: Redis;
}

/**
 * Rewrites tags. When the tags become longer it waits for memory, so that lists can always become shorter. It waits for room
 * on the disk in any case, since the tags of all chunks are appended to Redis' file, and searches go by the record meanwhile.
 */
export function createRetagWithMemory(parts: RetagMemoryParts): ReturnType<typeof createRetagJob> {
  const { records, chunks, memory, disks } = parts;
  const always = createRetagJob(parts);
  const inRoom = createRetagJob({ ...parts, chunks: writeOnlyWithMemory(chunks, memory) });
  return async (job, afterStep) => {
    if ((await disks.redis?.isShort()) === true || !(await memory.isShort())) return inRoom(job, afterStep);
    const record = await records.read(job.documentId);
    return record && (await lengthens(parts, record)) ? inRoom(job, afterStep) : always(job, afterStep);
  };
}

async function lengthens({ redis, chunks }: RetagMemoryParts, record: DocumentRecord): Promise<boolean> {
  const generations = [
    { generation: record.published?.generation, tags: documentTags(record) },
    ...(record.pending ? [{ generation: generationId(record), tags: tagsWhenPublished(record) }] : []),
  ];
  for (const { generation, tags } of generations) {
    const info = generation ? await chunks.generation(generation) : null;
    if (!generation || !info || info.chunks === 0) continue;
    // Chunks are rewritten from first to last, so no chunk has shorter tags than the last one still has.
    const bytes = Number(await redis.hStrLen(keys.chunk(generation, info.chunks - 1), 'tags'));
    if (tags.length > bytes) return true;
  }
  return false;
}
