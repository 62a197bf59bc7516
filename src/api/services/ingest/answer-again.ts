import { isFinal, isOurFailure, type DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import { retry, newOperation } from '../../../shared/documents/transitions.js';
import type { ChangeDocument } from '../documents/commit-change.js';
import { readDocument } from '../documents/document-access.js';
import type { RequestContext } from '../request-context.js';
import type { JobRequests } from './job-requests.js';
import { beginToWait, type AwaitedDocument, type WaitForDocument } from './waits.js';

/**
 * Waits for a document that an earlier request with the same `Idempotency-Key` has created. An ingest that failed by our
 * fault begins anew, because the caller was told to try again.
 * @throws NotFoundError when the document was deleted since, ForbiddenError
 */
export type AnswerAgain = (documentId: string, context: RequestContext) => Promise<AwaitedDocument>;

interface Dependencies {
  readonly records: Pick<Records, 'read' | 'inTurn'>;
  readonly beginAgain: BeginAgain;
  readonly waitForDocument: WaitForDocument;
}

export function createAnswerAgain({ records, beginAgain, waitForDocument }: Dependencies): AnswerAgain {
  return async (documentId, context) => {
    const { callerId, principal, waitSeconds, expiresAtMs, signal } = context;
    const known = await readDocument(records, { documentId, principal, signal }, 'read');
    const record = await beginAgain(known, context);
    return beginToWait(waitForDocument, record, {
      isDone: isFinal,
      callerId,
      waitSeconds,
      expiresAtMs,
      signal,
    });
  };
}

/**
 * Begins an ingest anew that failed by our fault. Resolves with the document as it is then, which is null when it was deleted;
 * all others are left as they are.
 * @throws ForbiddenError
 */
export type BeginAgain = (record: DocumentRecord, context: RequestContext) => Promise<DocumentRecord | null>;

export function createBeginAgain(change: ChangeDocument, jobs: JobRequests): BeginAgain {
  return async (record, context) => {
    if (!isOurFailure(record)) return record;
    const { callerId, principal, startedAtMs } = context;
    const documentId = record.id;
    const begun = await change({ documentId, principal, right: 'write' }, (current) => {
      const { pending } = current;
      if (!pending || !isOurFailure(current)) return null;
      return retry(current, newOperation(pending, { documentId, userId: callerId, startedAtMs }));
    });
    if (begun.record && begun.changed) await jobs.ingest(begun.record, context);
    return begun.record;
  };
}
