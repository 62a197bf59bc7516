import type { DocumentRight, Principal } from '../../../shared/access/access.js';
import { slicesOf } from '../../../shared/batches.js';
import { membersOf } from '../../../shared/collections/collection-record.js';
import type { CollectionStore } from '../../../shared/collections/collection-store.js';
import type { DocumentRecord } from '../../../shared/document.js';
import { removeWithAttachments } from '../../../shared/documents/attachments/remove-with-attachments.js';
import type { Change } from '../../../shared/documents/change.js';
import type { ListPosition } from '../../../shared/documents/list-order.js';
import { withCollections } from '../../../shared/documents/transitions.js';
import { DomainError, ForbiddenError, InvalidFieldError, NotFoundError } from '../../../shared/errors.js';
import type { Index } from '../../../shared/ports.js';
import type { ChangeDocument } from '../documents/commit-change.js';
import { documentNotFound, isDocumentId } from '../documents/document-access.js';
import { requireRoomFor } from '../ingest/admission/memory-growth.js';
import type { RequireRoom } from '../ingest/admission/require-room.js';
import type { JobRequests } from '../ingest/job-requests.js';
import {
  beginToWait,
  waitMilliseconds,
  type AwaitedDocument,
  type WaitForDocument,
} from '../ingest/waits.js';
import type { RequestContext } from '../request-context.js';
import { findCollection, type Collections } from './collections.js';

/** The most collections that a document may be in: each takes 50 bytes of every chunk. */
const MAX_COLLECTIONS = 32;
/** Documents that are changed at once. */
const AT_ONCE = 8;
const PAGE = 100;

/** A document, and the reason why it was not put in or taken out. */
export interface MemberOutcome {
  readonly documentId: string;
  readonly error: DomainError | null;
}

/**
 * Puts documents into collections and takes them out. All need the right to write the collection. Whoever puts a document in
 * needs the right to write it, too; to take one out, the right to read it is enough.
 */
export interface CollectionDocuments {
  /** The wait ends when searches see it. @throws NotFoundError, ForbiddenError, InvalidFieldError, TryLaterError */
  put(id: string, documentId: string, context: RequestContext): Promise<AwaitedDocument>;
  take(id: string, documentId: string, context: RequestContext): Promise<AwaitedDocument>;
  /** Does the same with many, and waits for none of them. An error of one stops no other. */
  changeMany(id: string, changes: ManyChanges, context: RequestContext): Promise<readonly MemberOutcome[]>;
  /**
   * Deletes the documents of a collection that the caller may delete, as long as the caller waits, and at least a hundred.
   * `isWhole` tells whether all of them are done with.
   */
  removeDocuments(id: string, context: RequestContext): Promise<{ deleted: number; isWhole: boolean }>;
}

export interface ManyChanges {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

interface Dependencies {
  readonly store: Pick<CollectionStore, 'read' | 'exist'>;
  readonly collections: Pick<Collections, 'into'>;
  readonly index: Pick<Index, 'list'>;
  readonly change: ChangeDocument;
  readonly room: RequireRoom;
  readonly jobs: JobRequests;
  readonly waitForDocument: WaitForDocument;
  /** The time that callers wait who do not state one. */
  readonly waitSeconds: number;
}

export function createCollectionDocuments(parts: Dependencies): CollectionDocuments {
  const { collections, waitForDocument } = parts;
  const moveAndWait = async (move: Move, context: RequestContext) => {
    await collections.into(move.collectionId, context.principal);
    const { record, changed } = await moveDocument(parts, move, context);
    const { callerId, waitSeconds, expiresAtMs, signal } = context;
    const isDone = (state: Pick<DocumentRecord, 'retag'>) => !changed || state.retag === 0;
    return beginToWait(waitForDocument, record, { isDone, callerId, waitSeconds, expiresAtMs, signal });
  };
  return {
    put: (id, documentId, context) => moveAndWait({ collectionId: id, documentId, to: 'in' }, context),
    take: (id, documentId, context) => moveAndWait({ collectionId: id, documentId, to: 'out' }, context),
    changeMany: async (id, { add, remove }, context) => {
      await collections.into(id, context.principal);
      const moves = [
        ...add.map((documentId): Move => ({ collectionId: id, documentId, to: 'in' })),
        ...remove.map((documentId): Move => ({ collectionId: id, documentId, to: 'out' })),
      ];
      const outcomes: MemberOutcome[] = [];
      for (const some of slicesOf(moves, AT_ONCE))
        outcomes.push(...(await Promise.all(some.map((move) => attemptMove(parts, move, context)))));
      return outcomes;
    },
    removeDocuments: (id, context) => removeDocuments(parts, id, context),
  };
}

/** Puts a document that an ingest replaces into the collection that the ingest names; null where it is there. */
export function joinCollections(now: DocumentRecord, ids: readonly string[]): Change | null {
  const before = now.collections ?? [];
  const added = ids.filter((id) => !before.includes(id));
  if (added.length === 0) return null;
  if (before.length + added.length > MAX_COLLECTIONS) throw tooManyCollections('collection', 'body');
  return withCollections(now, [...before, ...added]);
}

function tooManyCollections(field: string, place: 'body' | 'path'): InvalidFieldError {
  const message = `a document is in at most ${String(MAX_COLLECTIONS)} collections`;
  return new InvalidFieldError(field, message, { value: MAX_COLLECTIONS, of: 'items' }, place);
}

interface Move {
  readonly collectionId: string;
  readonly documentId: string;
  readonly to: 'in' | 'out';
}

const RIGHTS: Readonly<Record<Move['to'], DocumentRight>> = { in: 'write', out: 'read' };

async function moveDocument(
  { store, change, room, jobs }: Dependencies,
  { collectionId, documentId, to }: Move,
  context: RequestContext,
): ReturnType<ChangeDocument> {
  const { principal, signal } = context;
  if (!isDocumentId(documentId)) throw documentNotFound();
  const asked = { documentId, principal, right: RIGHTS[to] };
  // The right is checked first, so that the error is the same however full Redis is.
  const { record: known } = await change({ ...asked, signal }, () => null);
  const gone = await goneOf(store, known?.collections ?? []);
  const apply = (now: DocumentRecord) => moved(now, { collectionId, to, gone });
  const after = known && apply(known)?.record;
  if (known && after) await requireRoomFor(room, known, after);
  const result = await change(asked, apply);
  if (result.record && result.changed) await jobs.retag(result.record, context);
  return result;
}

/** The collections of a document that do not exist any more. They leave its record with the next change of this kind. */
async function goneOf(
  store: Pick<CollectionStore, 'exist'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const are = await store.exist(ids);
  return new Set(ids.filter((_, i) => are[i] === false));
}

function moved(
  now: DocumentRecord,
  { collectionId, to, gone }: Pick<Move, 'collectionId' | 'to'> & { readonly gone: ReadonlySet<string> },
) {
  const before = now.collections ?? [];
  if (before.includes(collectionId) === (to === 'in')) return null;
  const kept = before.filter((id) => id !== collectionId && !gone.has(id));
  if (to === 'in' && kept.length >= MAX_COLLECTIONS) throw tooManyCollections('document_id', 'path');
  return withCollections(now, to === 'in' ? [...kept, collectionId] : kept);
}

async function attemptMove(parts: Dependencies, move: Move, context: RequestContext): Promise<MemberOutcome> {
  const { documentId } = move;
  try {
    await moveDocument(parts, move, context);
    return { documentId, error: null };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { documentId, error };
  }
}

async function removeDocuments(
  { store, index, change, waitSeconds }: Dependencies,
  id: string,
  context: RequestContext,
): Promise<{ deleted: number; isWhole: boolean }> {
  const { principal, signal } = context;
  await findCollection(store, { id, principal, right: 'write' });
  const end = performance.now() + waitMilliseconds(context, waitSeconds);
  let deleted = 0;
  for (let after: ListPosition | null = null; ;) {
    const filter = membersOf(id);
    const { ids, next } = await index.list({ principal, filter, skip: 0, limit: PAGE, after });
    for (const some of slicesOf(ids, AT_ONCE)) {
      signal.throwIfAborted();
      const are = await Promise.all(
        some.map((documentId) => removeMember(change, { id, documentId, principal })),
      );
      deleted += are.filter(Boolean).length;
    }
    if (!next) return { deleted, isWhole: true };
    if (performance.now() >= end) return { deleted, isWhole: false };
    after = next;
  }
}

/** Resolves with whether it was deleted. One that was taken out meanwhile stays, as do those that the caller may not delete. */
async function removeMember(
  change: ChangeDocument,
  {
    id,
    documentId,
    principal,
  }: { readonly id: string; readonly documentId: string; readonly principal: Principal },
): Promise<boolean> {
  try {
    await removeWithAttachments(
      (removal, transition) =>
        change({ ...removal, right: 'write' }, (record) => {
          if (record.id === documentId && record.collections?.includes(id) !== true) throw documentNotFound();
          return transition(record);
        }),
      { documentId, principal },
    );
    return true;
  } catch (error) {
    if (error instanceof ForbiddenError || error instanceof NotFoundError) return false;
    throw error;
  }
}
