import type { Job } from 'bullmq';
import { batchCount } from '../../../shared/batches.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import { generationId, type Content, type DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import { GROUP_LANES } from '../../../shared/queues/lanes.js';
import { jobIds } from '../../../shared/queues/job-kinds.js';
import type { ReadJobNotes } from '../jobs/job-notes.js';

/** The maximum number of batches whose jobs are shown. */
const MAX_EMBED_JOBS = 20;

/** The view that operators have of a document: ids, states, counts, times and its file name, and nothing of its content. */
export type DocumentInspection = Awaited<ReturnType<typeof inspect>>;
export type InspectDocument = (id: string) => Promise<DocumentInspection | null>;

interface Dependencies {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly readNotes: ReadJobNotes;
}

export function createDocumentInspection(parts: Dependencies): InspectDocument {
  return async (id) => {
    const record = await parts.records.read(id);
    return record && (await inspect(parts, record));
  };
}

async function inspect({ records, chunks, jobs, readNotes }: Dependencies, record: DocumentRecord) {
  const { error, published, pending, operation } = record;
  const ids = [published?.generation ?? null, pending ? generationId(record) : null];
  const generations = await Promise.all(
    ids.filter((id) => id !== null).map((id) => readGeneration(chunks, id)),
  );
  const newest = generations.find((each) => each?.id === generationId(record));
  return {
    documentId: record.id,
    ownerId: record.ownerId,
    filename: (pending ?? published)?.filename ?? null,
    status: record.status,
    stage: record.stage,
    progress: record.progress,
    error: error && { code: error.code, stage: error.stage },
    version: record.version,
    attempt: record.attempt,
    publishedVersion: published?.version ?? null,
    /** True while the tags of the chunks are being rewritten after a change of access or metadata. */
    retagging: record.retag > 0,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    ingestStartedAt: operation ? new Date(operation.startedAtMs).toISOString() : null,
    published: published && describeContent(published),
    pending: pending && describeContent(pending),
    generations: generations.filter((each) => each !== null),
    jobs: await readJobs({ jobs, readNotes }, record, {
      chunkCount: newest ? newest.chunkCount : 0,
      group: await records.readGroup(record.id),
    }),
  };
}

const describeContent = ({ version, createdAt, chunkCount, tokenCount }: Content) => ({
  version,
  createdAt,
  chunkCount,
  tokenCount,
});

async function readGeneration(chunks: Chunks, id: string) {
  const found = await chunks.generation(id);
  return found && { id, chunkCount: found.chunks, tokenCount: found.tokens };
}

/** Reads the jobs of the newest attempt that the queues still know. */
async function readJobs(
  { jobs, readNotes }: Pick<Dependencies, 'jobs' | 'readNotes'>,
  record: DocumentRecord,
  { chunkCount, group }: { readonly chunkCount: number; readonly group: string | null },
) {
  const fence = { documentId: record.id, version: record.version, attempt: record.attempt };
  const batches = Math.min(batchCount(chunkCount), MAX_EMBED_JOBS);
  const wanted = [
    { queue: 'ingestion', id: jobIds.ingest(fence) } as const,
    { queue: 'ingestion-quick', id: jobIds.ingest(fence) } as const,
    ...GROUP_LANES.flatMap((queue) => (group === null ? [] : [{ queue, id: jobIds.ingestGroup(group) }])),
    ...Array.from(
      { length: batches },
      (_, batch) => ({ queue: 'embedding', id: jobIds.embed(fence, batch) }) as const,
    ),
  ];
  const found = await Promise.all(
    wanted.map(async ({ queue, id }) => {
      const job: Job | undefined = await jobs.queue(queue).getJob(id);
      if (!job) return [];
      const [state, { waits }] = await Promise.all([job.getState(), readNotes(queue, job)]);
      return [{ queue, id, state, waits }];
    }),
  );
  return found.flat();
}
