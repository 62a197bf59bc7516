import type { Change, Records, Transition } from '../../shared/records.js';
import type { DocumentRecord } from '../../shared/document.js';
import { requireRight, documentNotFound, type DocumentRight } from './document-access.js';
import type { JobRequests } from './job-requests.js';

export interface ChangeRequest {
  readonly documentId: string;
  readonly callerId: string;
  readonly right: DocumentRight;
}

export type ChangeDocument = (
  request: ChangeRequest,
  transition: Transition,
) => Promise<{ readonly record: DocumentRecord | null; readonly changed: boolean }>;

/**
 * Changes a record that exists, on behalf of a caller: the right is checked on the very record that is changed, and
 * chunks that nothing refers to any more are cleaned away. `record` is null once it is removed.
 * @throws AppError 403, 404
 */
export function createChangeDocument(records: Records, jobs: JobRequests): ChangeDocument {
  return async ({ documentId, callerId, right }, transition) => {
    let last: Change | null = null;
    const checked: Transition = (record) => {
      requireRight(record, callerId, right);
      last = transition(record);
      return last;
    };
    const result = await records.update(documentId, checked);
    if (!result.record && !result.changed) throw documentNotFound();
    await jobs.clean(discardedBy(last), callerId);
    return result;
  };
}

const discardedBy = (change: Change | null): readonly string[] => change?.discard ?? [];
