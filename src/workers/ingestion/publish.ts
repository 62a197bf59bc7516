import { batchCount } from '../../shared/batches.js';
import { embeddedField } from '../../shared/chunks/fields.js';
import type { VectorSet } from '../../shared/data-set/stored-vectors.js';
import { generationId, type DocumentRecord } from '../../shared/document.js';
import type { Transition } from '../../shared/documents/change.js';
import { TOO_MANY_CHUNKS } from '../../shared/documents/counts.js';
import type { Records } from '../../shared/documents/records.js';
import type { Fence } from '../../shared/documents/transitions.js';
import { OverQuotaError } from '../../shared/errors.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { traced } from '../../shared/tracing/tracing.js';
import { createFailDocument } from './fail-document.js';
import { expectedTags, shownNow } from './write-tags.js';

/** Commits a transition to the published state. Resolves with whether it took place. */
export type Publish = (record: DocumentRecord, transition: Transition) => Promise<boolean>;

/**
 * Publishes, as the last step of an ingest, adds jobs that remove the replaced data, and counts metrics. A document whose
 * chunks are more than its owner's quota leaves fails instead.
 */
export function createPublish({
  records,
  jobs,
  metrics,
  vectors,
}: {
  readonly records: Records;
  readonly jobs: Jobs;
  readonly metrics: WorkerMetrics;
  /** The vectors that searches use; published chunks must have them. */
  readonly vectors: VectorSet;
}): Publish {
  const failDocument = createFailDocument({ records, jobs, metrics });
  return async (record, transition) => {
    const commit = () => records.update(record.id, onlyWhole(transition, vectors), record);
    const done = await traced('publish', {}, commit).catch(unlessOverQuota);
    if (!done) {
      await failDocument(runOf(record), { code: 'too_large', message: TOO_MANY_CHUNKS, stage: 'publishing' });
      return false;
    }
    const { record: published, changed, discarded } = done;
    if (changed) {
      metrics.add('quire_ingested_documents_total', {});
      metrics.add('quire_ingested_bytes_total', {}, record.pending?.sizeBytes);
    }
    if (discarded.length > 0) await jobs.addCleans(discarded, record.ownerId);
    if (published && changed) await jobs.addAttachmentWork(published, { requestId: 'publish' });
    return changed;
  };
}

function unlessOverQuota(error: unknown): null {
  if (error instanceof OverQuotaError) return null;
  throw error;
}

const runOf = (record: DocumentRecord): Required<Fence> => ({
  documentId: record.id,
  version: record.version,
  attempt: record.attempt,
  generation: generationId(record),
});

/**
 * Publishes a generation only if all its chunks are there, embedded, counted and tagged. Redis may have restarted and lost
 * the most recent writes. Tags are not checked while the record is marked for new tags, which will be written anyway.
 */
const onlyWhole =
  (transition: Transition, vectors: VectorSet): Transition =>
  (record) => {
    const change = transition(record);
    const { generation = null, chunkCount = 0 } = change?.record?.published ?? {};
    if (!change?.record || generation === null) return change;
    const expected = [
      { generation, field: 'chunks', value: String(chunkCount) },
      { generation, field: embeddedField(vectors), value: String(batchCount(chunkCount)) },
    ];
    const tags = expectedTags(generation, shownNow(change.record), chunkCount);
    return { ...change, expected: change.record.retag > 0 ? expected : [...expected, tags] };
  };
