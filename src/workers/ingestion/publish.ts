import { batchCount } from '../../shared/batches.js';
import { embeddedField } from '../../shared/chunks/fields.js';
import type { VectorSet } from '../../shared/data-set/vectors.js';
import type { DocumentRecord } from '../../shared/document.js';
import type { Transition } from '../../shared/documents/change.js';
import { documentTags } from '../../shared/documents/document-tags.js';
import type { Records } from '../../shared/documents/records.js';
import type { Metrics } from '../../shared/observability/metrics.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { expectedTags } from './tags.js';

/** Commits a transition to the published state; answers whether it took place. */
export type Publish = (record: DocumentRecord, transition: Transition) => Promise<boolean>;

/** The last step of an ingest, whichever job takes it: what it replaces is cleaned up, what it brings is counted. */
export function createPublish({
  records,
  jobs,
  metrics,
  vectors,
}: {
  readonly records: Records;
  readonly jobs: Jobs;
  readonly metrics: Metrics;
  /** That searches use: those that what is published must have. */
  readonly vectors: VectorSet;
}): Publish {
  return async (record, transition) => {
    const { changed, discarded } = await records.update(record.id, onlyWhole(transition, vectors), record);
    if (changed) {
      metrics.add('quire_ingested_documents_total', {});
      metrics.add('quire_ingested_bytes_total', {}, record.pending?.sizeBytes);
    }
    if (discarded.length > 0) await jobs.addCleans(discarded, record.ownerId);
    return changed;
  };
}

/**
 * Publishes only what has all its chunks, embedded, counted and with its tags: Redis may have come back without the last
 * of them between their step and this one. Tags that are marked to be rewritten are what that is for.
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
    const tags = expectedTags(generation, documentTags(change.record), chunkCount);
    return { ...change, expected: change.record.retag > 0 ? expected : [...expected, tags] };
  };
