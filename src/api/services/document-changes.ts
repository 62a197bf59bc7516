import type { AccessLists } from '../../shared/access.js';
import type { DocumentRecord, Metadata } from '../../shared/document.js';
import type { Change } from '../../shared/records.js';
import { cancel, patch, remove, retry, type Patch } from '../../shared/transitions.js';
import type { Admit, RequireRoom } from './admission.js';
import type { ChangeDocument } from './change-document.js';
import { documentNotFound, type DocumentRight } from './document-access.js';
import { isSettled } from './document-view.js';
import { grows, requireRoomFor } from './growth.js';
import { newOperation, type IngestContext } from './ingest.js';
import type { JobRequests } from './job-requests.js';
import { beginSettling, patienceOf, type Settle, type Settling } from './settling.js';

/** What is undefined stays as it is. */
export interface DocumentPatch {
  readonly metadata: Metadata | undefined;
  readonly filename: string | undefined;
  readonly accessControl: Partial<AccessLists> | undefined;
}

/** All resolve with the document as it then stands, null when it was deleted meanwhile; all throw AppError 403, 404. */
export interface DocumentChanges {
  /** The wait is for searches to see the change. */
  patch(documentId: string, changes: DocumentPatch, context: IngestContext): Promise<Settling>;
  retry(documentId: string, context: IngestContext): Promise<DocumentRecord | null>;
  cancel(documentId: string, context: IngestContext): Promise<DocumentRecord | null>;
  remove(documentId: string, context: IngestContext): Promise<void>;
}

export function createDocumentChanges({
  change,
  admit,
  room,
  jobs,
  settle,
}: {
  readonly change: ChangeDocument;
  readonly admit: Admit;
  readonly room: RequireRoom;
  readonly jobs: JobRequests;
  readonly settle: Settle;
}): DocumentChanges {
  const request = (documentId: string, { caller }: IngestContext, right: DocumentRight = 'write') => ({
    ...{ documentId, callerId: caller.id, right },
  });

  return {
    patch: async (documentId, changes, context) => {
      const fields = definedFields(changes);
      const asked = request(documentId, context, changes.accessControl ? 'change access' : 'write');
      const isEmpty = Object.keys(fields).length === 0;
      // Who may not change it is told that, however full Redis is.
      const { record: known } = await change(asked, () => null);
      if (known && !isEmpty) await requireRoomFor(room, known, patchedBy(fields)(known).record ?? known);
      const { record, changed } = await change(asked, isEmpty ? () => null : patchedBy(fields));
      if (record && changed && record.retag > 0) await jobs.retag(record, context);
      return beginSettling(settle, record, { isDone: isRetagged, ...patienceOf(context) });
    },

    retry: async (documentId, context) => {
      const { caller, startedAtMs } = context;
      const asked = request(documentId, context);
      const again = (current: DocumentRecord) => {
        const { pending } = current;
        if (!pending) return null;
        return retry(current, newOperation(pending, { documentId, userId: caller.id, startedAtMs }));
      };
      // Where nothing is to be done, nothing has to wait: the document is answered as it is, however full the queues.
      const { record: known } = await change(asked, () => null);
      const leave = known && again(known) ? await admit(caller.id) : null;
      const { record, changed } = await change(asked, again).finally(() => leave?.());
      if (record && changed) await jobs.ingest(record, context);
      return record && settle(record, isSettled, context);
    },

    cancel: async (documentId, context) => {
      const cancelled = (current: DocumentRecord) => {
        const cancelling = cancel(current);
        return cancelling && { ...cancelling, evenWhenFull: true };
      };
      return (await change(request(documentId, context), cancelled)).record;
    },

    remove: async (documentId, context) => {
      const { changed } = await change(request(documentId, context), remove);
      if (!changed) throw documentNotFound();
    },
  };
}

const isRetagged = ({ retag }: DocumentRecord): boolean => retag === 0;

/** What only takes away goes on when Redis is full. */
const patchedBy =
  (fields: Patch) =>
  (current: DocumentRecord): Change => {
    const change = patch(current, fields);
    return { ...change, evenWhenFull: !grows(current, change.record ?? current) };
  };

/** A patch without the fields that stay. */
function definedFields({ metadata, filename, accessControl }: DocumentPatch): Patch {
  return {
    ...(metadata !== undefined && { metadata }),
    ...(filename !== undefined && { filename }),
    ...accessControl,
  };
}
