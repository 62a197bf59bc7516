import type { Chunks } from '../../shared/chunks/chunks.js';
import { generationId, type DocumentRecord } from '../../shared/document.js';
import { documentTags } from '../../shared/documents/record-fields.js';
import type { Records } from '../../shared/documents/records.js';
import type { Redis } from '../../shared/redis/client.js';
import { keys } from '../../shared/redis/keys.js';
import type { MemoryWatch } from '../../shared/redis/memory.js';
import type { TermStatisticsStore } from '../../shared/term-statistics/term-statistics.js';
import { writeOnlyWithMemory } from '../ingestion/write-only-with-memory.js';
import { tagsWhenPublished } from '../ingestion/write-tags.js';
import { createRetagJob } from './retag-job.js';

interface Dependencies {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly statistics: TermStatisticsStore;
  readonly memory: MemoryWatch;
  readonly redis: Redis;
}

/** Rewrites tags. When the tags become longer it waits for memory, so that revocations are always possible. */
export function createRetagWithMemory(parts: Dependencies): ReturnType<typeof createRetagJob> {
  const { records, chunks, memory } = parts;
  const always = createRetagJob(parts);
  const inRoom = createRetagJob({ ...parts, chunks: writeOnlyWithMemory(chunks, memory) });
  return async (job, afterStep) => {
    if (!(await memory.isShort())) return inRoom(job, afterStep);
    const record = await records.read(job.documentId);
    return record && (await lengthens(parts, record)) ? inRoom(job, afterStep) : always(job, afterStep);
  };
}

async function lengthens({ redis, chunks }: Dependencies, record: DocumentRecord): Promise<boolean> {
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
