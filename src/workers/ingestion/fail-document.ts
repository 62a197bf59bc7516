import type { Failure } from '../../shared/document.js';
import type { Records } from '../../shared/documents/records.js';
import { fail, type Fence } from '../../shared/documents/transitions.js';
import type { WorkerMetrics } from '../../shared/observability/worker-metrics.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import type { Outcome } from '../lane-worker.js';

export type FailDocument = (fence: Fence, failure: Failure) => Promise<Outcome>;

/** Marks a document's ingest as failed, unless the run is stale. */
export function createFailDocument({
  records,
  jobs,
  metrics,
}: {
  records: Records;
  jobs: Jobs;
  metrics: WorkerMetrics;
}): FailDocument {
  return async (fence, failure) => {
    const { record, changed, discarded } = await records.update(fence.documentId, (each) =>
      fail(each, { ...fence, failure }),
    );
    if (!record || !changed) return 'stale';
    metrics.add('quire_document_failures_total', { code: failure.code });
    await jobs.addCleans(discarded, record.ownerId);
    return 'failed';
  };
}
