import type { DocumentRecord } from '../../../shared/document.js';
import type { ChangeAsWriter } from '../../../shared/documents/attachments/remove-with-attachments.js';
import type { Records } from '../../../shared/documents/records.js';
import { ForbiddenError, NotFoundError } from '../../../shared/errors.js';
import type { Jobs } from '../../../shared/queues/jobs.js';

interface Dependencies {
  readonly records: Pick<Records, 'update'>;
  readonly jobs: Pick<Jobs, 'addCleans'>;
}

/** Changes documents on behalf of callers, outside of their requests. @param mayChange checked on the revision that is changed */
export function createChangeDocuments(
  { records, jobs }: Dependencies,
  mayChange: (callerId: string, record: DocumentRecord) => boolean,
): ChangeAsWriter {
  return async ({ documentId, callerId }, transition) => {
    const { record, changed, discarded } = await records.update(documentId, (each) => {
      if (!mayChange(callerId, each)) throw new ForbiddenError('Insufficient permissions');
      return transition(each);
    });
    if (!record && !changed) throw new NotFoundError('Document not found');
    if (discarded.length > 0) await jobs.addCleans(discarded, callerId);
    return { record, changed };
  };
}
