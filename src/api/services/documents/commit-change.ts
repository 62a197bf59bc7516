import { requireRight, type DocumentRight, type Principal } from '../../../shared/access/access.js';
import { fulfils, type DocumentRecord, type Precondition } from '../../../shared/document.js';
import type { Transition } from '../../../shared/documents/change.js';
import { ChangedError } from '../../../shared/errors.js';
import type { Records } from '../../../shared/documents/records.js';
import { isCurrent } from '../../../shared/documents/transitions.js';
import type { JobRequests } from '../ingest/job-requests.js';
import { documentNotFound } from './document-access.js';

export interface ChangeRequest {
  readonly documentId: string;
  readonly principal: Principal;
  /** Null where the right to change another document decides about the change. */
  readonly right: DocumentRight | null;
  /** The states in which alone the document may be changed; null or absent for any. */
  readonly precondition?: Precondition | null | undefined;
  /** Ends the wait for the turn of the change. Without it, a change is made although its caller has gone away. */
  readonly signal?: AbortSignal | undefined;
}

export type ChangeDocument = (
  request: ChangeRequest,
  transition: Transition,
) => Promise<{ readonly record: DocumentRecord | null; readonly changed: boolean }>;

/**
 * Changes an existing record on behalf of a caller. The right is checked on the same revision that is changed, and jobs
 * are added that remove chunks which are no longer referenced. `record` is null when it was removed.
 * @throws ForbiddenError, NotFoundError, ChangedError
 */
export function createCommitChange(records: Records, jobs: JobRequests): ChangeDocument {
  return async ({ documentId, principal, right, precondition, signal }, transition) => {
    const last: { before: DocumentRecord | null } = { before: null };
    const checked: Transition = (record) => {
      if (right) requireRight(principal, record, right);
      if (precondition && !fulfils(record, precondition)) throw new ChangedError();
      last.before = record;
      return transition(record);
    };
    const update = () => records.update(documentId, checked);
    const result = await records.inTurn(principal.id, update, signal);
    if (!result.record && !result.changed) throw documentNotFound();
    await Promise.all([
      jobs.clean(result.discarded, principal.id),
      last.before && endsAttempt(last.before, result.record) ? jobs.forgetIngest(last.before) : null,
    ]);
    return result;
  };
}

/** Tells whether a change ended an attempt whose job is still waiting. */
const endsAttempt = (before: DocumentRecord, after: DocumentRecord | null): boolean =>
  before.status === 'queued' && (!after || !isCurrent(after, { ...before, documentId: before.id }));
