import { z } from 'zod';
import { isFinal } from '../../../shared/document.js';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import type { Records } from '../../../shared/documents/records.js';
import { cacheJob, embedJob, ingestJob } from '../../../shared/queues/job-kinds.js';

/** The effect of running a job again; a job of upkeep, or of several documents, runs again as it is. */
export type RetryPlan =
  | { readonly kind: 'document'; readonly documentId: string; readonly attempt: number }
  | { readonly kind: 'cache'; readonly cache: z.infer<typeof cacheJob> }
  | { readonly kind: 'job' }
  /** The document or cache of the job is gone or has gone on without it. */
  | { readonly kind: 'nothing'; readonly why: string };

interface Stores {
  readonly records: Pick<Records, 'read'>;
  readonly caches: Pick<CacheStore, 'read'>;
}

/** The documents that a job names: one, the documents of a group, or the document of a generation. */
const named = z.object({
  documentId: z.string().optional(),
  documentIds: z.array(z.string()).optional(),
  generation: z.string().optional(),
});

export function documentsOf(data: unknown): readonly string[] {
  const { success, data: found } = named.safeParse(data);
  if (!success) return [];
  if (found.documentIds) return found.documentIds;
  const id = found.documentId ?? found.generation?.split('.')[0];
  return id === undefined ? [] : [id];
}

const DOCUMENT_JOBS: readonly string[] = ['ingest', 'embed'];

/** Tells the effect of a retry of a job that has failed. */
export async function planRetry(
  stores: Stores,
  job: { readonly name: string; readonly data: unknown },
): Promise<RetryPlan> {
  if (DOCUMENT_JOBS.includes(job.name)) return planDocument(stores, job.data);
  if (job.name === 'build') return planCache(stores, job.data);
  return { kind: 'job' };
}

const fence = z.union([ingestJob, embedJob]);

async function planDocument({ records }: Stores, data: unknown): Promise<RetryPlan> {
  const { success, data: job } = fence.safeParse(data);
  if (!success) return { kind: 'job' };
  const record = await records.read(job.documentId);
  if (!record) return { kind: 'nothing', why: 'its document is gone' };
  const isSame = record.version === job.version && record.attempt === job.attempt;
  if (!isSame) return { kind: 'nothing', why: 'its document was tried again since' };
  // An attempt that has not ended goes on with this very job.
  if (!isFinal(record)) return { kind: 'job' };
  if (record.status === 'completed') return { kind: 'nothing', why: 'its document is completed' };
  return { kind: 'document', documentId: record.id, attempt: record.attempt + 1 };
}

async function planCache({ caches }: Stores, data: unknown): Promise<RetryPlan> {
  const { success, data: cache } = cacheJob.safeParse(data);
  if (!success) return { kind: 'job' };
  const record = await caches.read(cache.ownerId, cache.name);
  if (record?.building?.build === cache.build) return { kind: 'job' };
  return record?.failure?.build === cache.build && record.failure.documentIds && !record.building
    ? { kind: 'cache', cache }
    : { kind: 'nothing', why: 'its cache is gone or was built again since' };
}
