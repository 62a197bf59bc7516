import { canWrite } from '../../shared/access/access.js';
import { removeReplaced } from '../../shared/documents/attachments/remove-with-attachments.js';
import type { Records } from '../../shared/documents/records.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { createChangeDocuments } from '../ingestion/attachments/change-documents.js';
import type { Outcome } from '../lane-worker.js';

/** Removes the documents of attachments of contents that were replaced or cancelled; see `removeReplaced`. */
export function createRemoveReplaced({
  records,
  jobs,
}: {
  readonly records: Records;
  readonly jobs: Pick<Jobs, 'addCleans'>;
}) {
  const change = createChangeDocuments({ records, jobs }, canWrite);
  return async ({ documentId }: { documentId: string }): Promise<Outcome> =>
    (await removeReplaced(records, change, documentId)) ? 'done' : 'stale';
}
