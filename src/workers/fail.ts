import type { Failure } from '../shared/document.js';
import type { Jobs } from '../shared/jobs.js';
import type { Records } from '../shared/records.js';
import { fail, type Fence } from '../shared/transitions.js';
import type { Outcome } from './worker.js';

export type FailDocument = (fence: Fence, failure: Failure) => Promise<Outcome>;

/** Ends a document's ingest as failed, unless the run is stale. */
export function createFailDocument({ records, jobs }: { records: Records; jobs: Jobs }): FailDocument {
  return async (fence, failure) => {
    const { changed, discarded } = await records.update(fence.documentId, (each) =>
      fail(each, { ...fence, failure }),
    );
    if (!changed) return 'stale';
    await jobs.addCleans(discarded);
    return 'failed';
  };
}
