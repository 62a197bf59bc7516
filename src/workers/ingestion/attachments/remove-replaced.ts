import { requireRight, type DocumentRight } from '../../../shared/access/access.js';
import {
  removeReplaced,
  type ChangeAsWriter,
} from '../../../shared/documents/attachments/remove-with-attachments.js';
import type { Records } from '../../../shared/documents/records.js';
import { NotFoundError } from '../../../shared/errors.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { Outcome } from '../../lane-worker.js';

/** Removes the documents of attachments of contents that were replaced or cancelled; see `removeReplaced`. */
export function createRemoveReplaced({
  records,
  jobs,
}: {
  readonly records: Records;
  readonly jobs: Pick<Jobs, 'addCleans'>;
}) {
  const change = createChangeDocuments({ records, jobs }, 'write');
  return async ({ documentId }: { documentId: string }): Promise<Outcome> =>
    (await removeReplaced(records, change, documentId)) ? 'done' : 'stale';
}

interface ChangeParts {
  readonly records: Pick<Records, 'update'>;
  readonly jobs: Pick<Jobs, 'addCleans'>;
}

/** Changes documents on behalf of callers, outside of their requests. @param right checked on the revision that is changed */
export function createChangeDocuments(
  { records, jobs }: ChangeParts,
  right: DocumentRight | null,
): ChangeAsWriter {
  return async ({ documentId, principal }, transition) => {
    const { record, changed, discarded } = await records.update(documentId, (each) => {
      if (right) requireRight(principal, each, right);
      return transition(each);
    });
    if (!record && !changed) throw new NotFoundError('Document not found');
    if (discarded.length > 0) await jobs.addCleans(discarded, principal.id);
    return { record, changed };
  };
}
