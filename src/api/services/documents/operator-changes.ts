import { principalOf } from '../../../shared/access/access.js';
import type { DocumentRecord } from '../../../shared/document.js';
import type { Records } from '../../../shared/documents/records.js';
import type { RequestContext } from '../request-context.js';
import type { ChangeDocument } from './commit-change.js';
import { documentNotFound } from './document-access.js';
import type { DocumentChanges } from './document-changes.js';

/** The changes that operators may make to any document, whoever may read it. All throw NotFoundError. */
export interface OperatorChanges {
  retry(documentId: string, requestId: string): Promise<DocumentRecord | null>;
  cancel(documentId: string, requestId: string): Promise<DocumentRecord | null>;
  remove(documentId: string, requestId: string): Promise<void>;
}

interface Dependencies {
  readonly records: Pick<Records, 'read'>;
  readonly change: ChangeDocument;
  /** The changes of callers, made with this way to commit one. */
  readonly changesBy: (change: ChangeDocument) => DocumentChanges;
}

/**
 * Changes documents in their owners' names: their turns, limits and usage count, and their rights say which documents of
 * attachments go, too. The document itself is changed whatever its access lists say.
 */
export function createOperatorChanges({ records, change, changesBy }: Dependencies): OperatorChanges {
  const ownerOf = async (documentId: string) => {
    const record = await records.read(documentId);
    if (!record) throw documentNotFound();
    return record.ownerId;
  };
  const changesOf = (documentId: string) =>
    changesBy((asked, transition) =>
      change(asked.documentId === documentId ? { ...asked, right: null } : asked, transition),
    );
  const contextOf = async (documentId: string, requestId: string): Promise<RequestContext> => {
    const callerId = await ownerOf(documentId);
    return {
      callerId,
      principal: principalOf(callerId),
      requestId,
      startedAtMs: Date.now(),
      // Nobody waits for the document.
      waitSeconds: 0,
      signal: new AbortController().signal,
    };
  };
  return {
    retry: async (id, requestId) => changesOf(id).retry(id, await contextOf(id, requestId)),
    cancel: async (id, requestId) => changesOf(id).cancel(id, await contextOf(id, requestId)),
    remove: async (id, requestId) => changesOf(id).remove(id, await contextOf(id, requestId)),
  };
}
