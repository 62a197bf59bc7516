import { requireMembership } from '../../../shared/access/leaving.js';
import type { DocumentRecord } from '../../../shared/document.js';
import { comeBack, leave } from '../../../shared/documents/transitions.js';
import { comeBackWithAttachments, leaveWithAttachments } from '../documents/change-access.js';
import type { ChangeDocument } from '../documents/commit-change.js';
import { documentNotFound, isDocumentId } from '../documents/document-access.js';
import { requireRoomFor } from '../ingest/admission/memory-growth.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';
import type { JobRequests } from '../ingest/job-requests.js';
import { beginToWait, type AwaitedDocument, type WaitForDocument } from '../ingest/waits.js';
import type { RequestContext } from '../request-context.js';
import type { CallerLists } from './caller-lists.js';

/** The ways in which readers part from documents of others, and come back. Both may be asked for again and again. */
export interface Membership {
  /**
   * Takes the caller out of all lists of a document. Nobody else can bring them back.
   * @throws ForbiddenError, NotFoundError; ConflictError for the owner and the only admin
   */
  leave(documentId: string, context: RequestContext): Promise<void>;
  /**
   * Has a document of somebody else found where the caller finds only accepted ones, and gives a caller who has left the
   * rights of the lists again. The wait ends when searches see it.
   * @throws ForbiddenError, NotFoundError, InvalidFieldError for too many
   */
  accept(documentId: string, context: RequestContext): Promise<AwaitedDocument>;
}

export interface MembershipParts {
  readonly change: ChangeDocument;
  readonly room: RequireRoom;
  readonly jobs: JobRequests;
  readonly waitForDocument: WaitForDocument;
  readonly lists: Pick<CallerLists, 'acceptDocument' | 'forgetDocument'>;
}

export function createMembership(parts: MembershipParts): Membership {
  const { change, jobs, waitForDocument, lists } = parts;
  const retagIn = (context: RequestContext) => (record: DocumentRecord) => jobs.retag(record, context);
  return {
    leave: async (documentId, context) => {
      const { asked } = await prepare(parts, { documentId, context, apply: leave });
      const retag = retagIn(context);
      const { record, changed } = await leaveWithAttachments({ change, retag }, asked);
      if (record && changed && record.retag > 0) await retag(record);
      await lists.forgetDocument(context.callerId, documentId);
    },
    accept: async (documentId, context) => {
      const { asked, isOwn } = await prepare(parts, { documentId, context, apply: comeBack });
      if (!isOwn) await lists.acceptDocument(context.principal, documentId);
      const retag = retagIn(context);
      const { record, changed } = await comeBackWithAttachments({ change, retag }, asked);
      if (record && changed && record.retag > 0) await retag(record);
      const { callerId, waitSeconds, signal } = context;
      const isDone = (state: Pick<DocumentRecord, 'retag'>) => !changed || state.retag === 0;
      return beginToWait(waitForDocument, record, { isDone, callerId, waitSeconds, signal });
    },
  };
}

interface Preparation {
  readonly documentId: string;
  readonly context: RequestContext;
  readonly apply: typeof leave;
}

/** Checks that the caller is or was named by a list of the document, and that there is room for the change. */
async function prepare({ change, room }: MembershipParts, { documentId, context, apply }: Preparation) {
  const { callerId, principal, signal } = context;
  if (!isDocumentId(documentId)) throw documentNotFound();
  const asked = { documentId, principal, right: null };
  const { record } = await change({ ...asked, signal }, (now) => {
    requireMembership(principal, now);
    return null;
  });
  const after = record && apply(record, callerId)?.record;
  if (record && after) await requireRoomFor(room, record, after);
  return { asked, isOwn: record?.ownerId === callerId };
}
