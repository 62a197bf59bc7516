import { batchCount } from '../../shared/batches.js';
import type { Chunks } from '../../shared/chunks.js';
import { generationId, type Content, type DocumentRecord } from '../../shared/document.js';
import { jobIds, type Jobs } from '../../shared/jobs.js';
import type { Records } from '../../shared/records.js';

/** Of a document with more batches than these, the jobs of the first ones are shown. */
const MOST_EMBED_JOBS = 20;

/** What operators see of a document: ids, states, counts and times; nothing that its owner wrote. */
export type DocumentInspection = Awaited<ReturnType<typeof inspect>>;
export type InspectDocument = (id: string) => Promise<DocumentInspection | null>;

interface Parts {
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
}

export function createDocumentInspection(parts: Parts): InspectDocument {
  return async (id) => {
    const record = await parts.records.read(id);
    return record && (await inspect(parts, record));
  };
}

async function inspect({ chunks, jobs }: Parts, record: DocumentRecord) {
  const { error, published, pending, operation } = record;
  const ids = [published?.generation ?? null, pending ? generationId(record) : null];
  const generations = await Promise.all(
    ids.filter((id) => id !== null).map((id) => readGeneration(chunks, id)),
  );
  const newest = generations.find((each) => each?.id === generationId(record));
  return {
    document_id: record.id,
    owner_id: record.ownerId,
    status: record.status,
    stage: record.stage,
    progress: record.progress,
    error: error && { code: error.code, stage: error.stage },
    version: record.version,
    attempt: record.attempt,
    published_version: published?.version ?? null,
    /** Tags of the chunks are still to be rewritten after a change of access or metadata. */
    retagging: record.retag > 0,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    ingest_started_at: operation ? new Date(operation.startedAtMs).toISOString() : null,
    published: published && describeContent(published),
    pending: pending && describeContent(pending),
    generations: generations.filter((each) => each !== null),
    jobs: await readJobs(jobs, record, newest?.chunk_count ?? 0),
  };
}

const describeContent = ({ version, createdAt, chunkCount, tokenCount }: Content) => ({
  ...{ version, created_at: createdAt, chunk_count: chunkCount, token_count: tokenCount },
});

async function readGeneration(chunks: Chunks, id: string) {
  const found = await chunks.generation(id);
  return found && { id, chunk_count: found.chunks, token_count: found.tokens };
}

/** Jobs of the newest attempt that the queues still know. */
async function readJobs(jobs: Jobs, record: DocumentRecord, chunkCount: number) {
  const fence = { documentId: record.id, version: record.version, attempt: record.attempt };
  const batches = Math.min(batchCount(chunkCount), MOST_EMBED_JOBS);
  const wanted = [
    { queue: 'ingestion', id: jobIds.ingest(fence) } as const,
    { queue: 'ingestion-quick', id: jobIds.ingest(fence) } as const,
    ...Array.from(
      { length: batches },
      (_, batch) => ({ queue: 'embedding', id: jobIds.embed(fence, batch) }) as const,
    ),
  ];
  const states = await Promise.all(wanted.map(({ queue, id }) => jobs.queue(queue).getJobState(id)));
  return wanted.flatMap((job, i) => {
    const state = states[i] ?? 'unknown';
    return state === 'unknown' ? [] : [{ ...job, state }];
  });
}
