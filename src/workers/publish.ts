import type { DocumentRecord } from '../shared/document.js';
import type { Jobs } from '../shared/jobs.js';
import type { Metrics } from '../shared/metrics.js';
import type { Records, Transition } from '../shared/records.js';

/** Commits a transition to the published state; answers whether it took place. */
export type Publish = (record: DocumentRecord, transition: Transition) => Promise<boolean>;

/** The last step of an ingest, whichever job takes it: what it replaces is cleaned up, what it brings is counted. */
export function createPublish({
  records,
  jobs,
  metrics,
}: {
  readonly records: Records;
  readonly jobs: Jobs;
  readonly metrics: Metrics;
}): Publish {
  return async (record, transition) => {
    const { changed, discarded } = await records.update(record.id, transition, record);
    if (changed) {
      metrics.add('quire_ingested_documents_total', {});
      metrics.add('quire_ingested_bytes_total', {}, record.pending?.sizeBytes);
    }
    if (discarded.length > 0) await jobs.addCleans(discarded, record.ownerId);
    return changed;
  };
}
