import { principalOf, type Principal } from '../../access/access.js';
import type { DocumentRecord } from '../../document.js';
import { ForbiddenError, NotFoundError } from '../../errors.js';
import type { Change, Transition } from '../change.js';
import type { Records } from '../records.js';
import { cancel, remove } from '../transitions.js';
import { stopWaiting, waitingOf, endRemovals, removalsOf } from './attachment-changes.js';

export interface Removal {
  readonly documentId: string;
  readonly principal: Principal;
}

/**
 * Changes a document that the caller may write; the right is checked on the very revision that is changed.
 * @throws ForbiddenError, NotFoundError
 */
export type ChangeAsWriter = (
  request: Removal,
  transition: Transition,
) => Promise<{ readonly record: DocumentRecord | null; readonly changed: boolean }>;

/**
 * Removes a document together with the documents of its attachments that the caller may remove. They go first, so that none
 * is left behind when this is interrupted and asked for again.
 * @throws ForbiddenError, NotFoundError
 */
export async function removeWithAttachments(change: ChangeAsWriter, asked: Removal): Promise<void> {
  for (;;) {
    const { record } = await change(asked, (now) => stopAttempt(now, asked.principal.id));
    if (record && waitingOf(record).length > 0) await change(asked, stopWaiting);
    const known = namesOf(record);
    for (const documentId of record?.attachments ?? [])
      await removeAttachment(change, { ...asked, documentId }, asked.documentId);
    // Attachments that were noted meanwhile are removed in the next round.
    const { changed } = await change(asked, (now) => (namesOf(now) === known ? remove(now) : null));
    if (changed) return;
  }
}

/** Ends an attempt that makes documents of attachments, so that none comes after the removed ones. */
function stopAttempt(record: DocumentRecord, callerId: string): Change | null {
  const cancelling = namesOf(record) === '' ? null : cancel(record, callerId);
  return cancelling && { ...cancelling, evenWhenFull: true };
}

const namesOf = (record: DocumentRecord | null): string => (record?.attachments ?? []).join();

/** Resolves with whether the document stays because the caller may not remove it. */
export async function removeAttachment(
  change: ChangeAsWriter,
  removal: Removal,
  parentId: string,
): Promise<boolean> {
  try {
    const { record } = await change(removal, () => null);
    if (record?.attachmentOf?.documentId !== parentId) return false;
    await removeWithAttachments(change, removal);
    return false;
  } catch (error) {
    if (error instanceof ForbiddenError) return true;
    if (!(error instanceof NotFoundError)) throw error;
    return false;
  }
}

/**
 * Removes the documents of attachments of contents that were replaced or cancelled, where the caller who has ended the
 * content may write the document. The others stay as documents of their own, and the record of the document that carried
 * them says so. The record names each until it is done with, so that the next run makes an interrupted one good.
 *
 * @returns whether there was anything to remove
 */
export async function removeReplaced(
  records: Pick<Records, 'read' | 'update'>,
  change: ChangeAsWriter,
  documentId: string,
): Promise<boolean> {
  for (let wereAny = false; ; wereAny = true) {
    const record = await records.read(documentId);
    const removals = record ? removalsOf(record) : [];
    if (removals.length === 0) return wereAny;
    const kept: string[] = [];
    for (const { id, callerId } of removals)
      if (await removeAttachment(change, { documentId: id, principal: principalOf(callerId) }, documentId))
        kept.push(id);
    const ended = removals.map(({ id }) => id);
    await records.update(documentId, (each) => endRemovals(each, { ended, kept }));
  }
}
