import type { AccessLists } from '../../../shared/access/access.js';
import { isFinal, type DocumentRecord, type Metadata } from '../../../shared/document.js';
import { cancel, retry, newOperation } from '../../../shared/documents/transitions.js';
import type { Admit } from '../ingest/admission/admission.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';
import { requireRoomFor } from '../ingest/admission/memory-growth.js';
import type { JobRequests } from '../ingest/job-requests.js';
import { beginToWait, type AwaitedDocument, type IsDone, type WaitForDocument } from '../ingest/waits.js';
import type { RequestContext } from '../request-context.js';
import { changeAccess, patchedBy, type FieldsOf } from './change-access.js';
import type { ChangeDocument, ChangeRequest } from './commit-change.js';
import { retryMissed } from '../../../shared/documents/attachments/attachment-changes.js';
import {
  removeReplaced,
  removeWithAttachments,
  type ChangeAsWriter,
} from '../../../shared/documents/attachments/remove-with-attachments.js';
import type { Records } from '../../../shared/documents/records.js';

/** Fields that are undefined stay as they are. */
export interface DocumentPatch {
  /** Makes the new metadata of the present ones, as often as others change the document meanwhile. It may refuse them. */
  readonly metadata: ((now: Metadata) => Metadata) | undefined;
  /** Null takes the name away. */
  readonly filename: string | null | undefined;
  readonly accessControl: Partial<AccessLists> | undefined;
}

/**
 * All functions resolve with the document after the change; null when it was deleted in the meantime. All throw
 * ForbiddenError and NotFoundError, and ChangedError where the context has a precondition.
 */
export interface DocumentChanges {
  /** The wait ends when searches see the change. */
  patch(documentId: string, changes: DocumentPatch, context: RequestContext): Promise<AwaitedDocument>;
  retry(documentId: string, context: RequestContext): Promise<DocumentRecord | null>;
  cancel(documentId: string, context: RequestContext): Promise<DocumentRecord | null>;
  remove(documentId: string, context: RequestContext): Promise<void>;
}

interface Dependencies {
  readonly records: Pick<Records, 'read' | 'update'>;
  readonly change: ChangeDocument;
  readonly admit: Admit;
  readonly room: RequireRoom;
  readonly jobs: JobRequests;
  readonly waitForDocument: WaitForDocument;
}

export function createDocumentChanges(parts: Dependencies): DocumentChanges {
  const changeAsWriter: ChangeAsWriter = (removal, transition) =>
    parts.change({ ...removal, right: 'write' }, transition);
  return {
    patch: (documentId, changes, context) => patchDocument(parts, { documentId, changes, context }),
    retry: (documentId, context) => retryDocument(parts, documentId, context),
    cancel: async (documentId, { principal }) => {
      const { record } = await changeAsWriter({ documentId, principal }, (current) => {
        const cancelling = cancel(current, principal.id);
        return cancelling && { ...cancelling, evenWhenFull: true };
      });
      // Nothing of it is found after the response. When this is interrupted, the sweep has the rest removed.
      if (record?.status === 'cancelled') await removeReplaced(parts.records, changeAsWriter, documentId);
      return record;
    },
    remove: (documentId, { principal, precondition }) =>
      removeWithAttachments(
        (removal, transition) => {
          const isAsked = removal.documentId === documentId;
          const asked = { ...removal, right: 'write', precondition: isAsked ? precondition : null } as const;
          return parts.change(asked, transition);
        },
        { documentId, principal },
      ),
  };
}

interface PatchRequest {
  readonly documentId: string;
  readonly changes: DocumentPatch;
  readonly context: RequestContext;
}

async function patchDocument(
  { change, room, jobs, waitForDocument }: Dependencies,
  { documentId, changes, context }: PatchRequest,
): Promise<AwaitedDocument> {
  const { callerId, principal, waitSeconds, expiresAtMs, signal, precondition } = context;
  const fieldsOf = definedFields(changes);
  const right = changes.accessControl ? 'change access' : 'write';
  const asked = { documentId, principal, right, precondition } as const;
  const apply = (now: DocumentRecord) => {
    const fields = fieldsOf(now);
    return Object.keys(fields).length === 0 ? null : patchedBy(fields)(now);
  };
  // The right is checked first, so that the error is the same however full Redis is.
  const { record: known } = await change({ ...asked, signal }, () => null);
  const patched = known && apply(known);
  if (known && patched) await requireRoomFor(room, known, patched.record ?? known);
  const hasLists = Object.keys(changes.accessControl ?? {}).length > 0;
  const parts = { change, retag: (attachment: DocumentRecord) => jobs.retag(attachment, context) };
  const { record, changed } = hasLists
    ? await changeAccess(parts, asked, fieldsOf)
    : await change(asked, apply);
  if (record && changed && record.retag > 0) await jobs.retag(record, context);
  return beginToWait(waitForDocument, record, {
    isDone: isRetagged,
    callerId,
    waitSeconds,
    expiresAtMs,
    signal,
  });
}

async function retryDocument(
  parts: Dependencies,
  documentId: string,
  context: RequestContext,
): Promise<DocumentRecord | null> {
  const { change, admit, jobs, waitForDocument } = parts;
  const { callerId, principal, startedAtMs, signal } = context;
  const asked = { documentId, principal, right: 'write' } as const;
  const again = (current: DocumentRecord) => {
    const { pending } = current;
    if (!pending) return null;
    return retry(current, newOperation(pending, { documentId, userId: callerId, startedAtMs }));
  };
  // When there is nothing to do, the document is returned as it is, however full the queues are.
  const { record: known } = await change({ ...asked, signal }, () => null);
  if (known?.status === 'completed') return retryAttachments(parts, asked, context);
  const arrival = known && again(known) ? await admit(callerId) : null;
  arrival?.becomes(documentId);
  const { record, changed } = await change(asked, again).finally(() => arrival?.leave());
  if (record && changed) await jobs.ingest(record, context);
  return record && waitForDocument(record, isFinal, context);
}

/** Takes up the missed attachments of a completed document again. They take no room yet. */
async function retryAttachments(
  { change, jobs }: Dependencies,
  asked: ChangeRequest,
  context: RequestContext,
): Promise<DocumentRecord | null> {
  const { record, changed } = await change(asked, retryMissed);
  if (record && changed) await Promise.all([jobs.retag(record, context), jobs.attachments(record, context)]);
  return record;
}

const isRetagged: IsDone = ({ retag }) => retag === 0;

/** Returns the patch without the fields that stay. */
const definedFields =
  ({ metadata, filename, accessControl }: DocumentPatch): FieldsOf =>
  (now) => ({
    ...(metadata !== undefined && { metadata: metadata(now.metadata) }),
    ...(filename !== undefined && { filename }),
    ...accessControl,
  });
