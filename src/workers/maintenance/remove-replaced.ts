import { canWrite } from '../../shared/access/access.js';
import { endRemovals, removalsOf } from '../../shared/documents/attachments/attachment-changes.js';
import { removeAttachment } from '../../shared/documents/attachments/remove-with-attachments.js';
import type { Records } from '../../shared/documents/records.js';
import type { Jobs } from '../../shared/queues/jobs.js';
import { createChangeDocuments } from '../ingestion/attachments/change-documents.js';
import type { Outcome } from '../lane-worker.js';

/**
 * Removes the documents of attachments of contents that were replaced, where who has replaced them may write the
 * document. The others stay as documents of their own, and the record of what carried them says so. The record names each
 * until it is done with, so that a run that is interrupted is made good by the next one.
 */
export function createRemoveReplaced({
  records,
  jobs,
}: {
  readonly records: Records;
  readonly jobs: Pick<Jobs, 'addCleans'>;
}) {
  const change = createChangeDocuments({ records, jobs }, canWrite);
  return async ({ documentId }: { documentId: string }): Promise<Outcome> => {
    for (let outcome: Outcome = 'stale'; ; outcome = 'done') {
      const record = await records.read(documentId);
      const removals = record ? removalsOf(record) : [];
      if (removals.length === 0) return outcome;
      const kept: string[] = [];
      for (const { id, callerId } of removals)
        if (await removeAttachment(change, { documentId: id, callerId }, documentId)) kept.push(id);
      const ended = removals.map(({ id }) => id);
      await records.update(documentId, (each) => endRemovals(each, { ended, kept }));
    }
  };
}
