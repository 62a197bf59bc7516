import type { DocumentRecord } from '../../../shared/document.js';
import { cancel, remove } from '../../../shared/documents/transitions.js';
import type { Change } from '../../../shared/documents/change.js';
import { ForbiddenError, NotFoundError } from '../../../shared/errors.js';
import type { ChangeDocument } from './commit-change.js';

interface Removal {
  readonly documentId: string;
  readonly callerId: string;
}

/**
 * Removes a document with those that were made of its attachments and that the caller may remove. They go first, so that
 * none is left behind when this is interrupted and asked for again.
 * @throws ForbiddenError, NotFoundError
 */
export async function removeWithAttachments(change: ChangeDocument, removal: Removal): Promise<void> {
  const asked = { ...removal, right: 'write' } as const;
  for (;;) {
    const { record } = await change(asked, stopMaking);
    const known = namesOf(record);
    for (const documentId of record?.attachments ?? [])
      await removeAttachment(change, { ...removal, documentId }, removal.documentId);
    // Attachments that were noted meanwhile are removed in the next round.
    const { changed } = await change(asked, (now) => (namesOf(now) === known ? remove(now) : null));
    if (changed) return;
  }
}

/** Ends an attempt that makes documents of attachments, so that none comes after those that are removed. */
function stopMaking(record: DocumentRecord): Change | null {
  const cancelling = namesOf(record) === '' ? null : cancel(record);
  return cancelling && { ...cancelling, evenWhenFull: true };
}

const namesOf = (record: DocumentRecord | null): string => (record?.attachments ?? []).join();

async function removeAttachment(change: ChangeDocument, removal: Removal, parentId: string): Promise<void> {
  try {
    const { record } = await change({ ...removal, right: 'write' }, () => null);
    if (record?.attachmentOf?.documentId === parentId) await removeWithAttachments(change, removal);
  } catch (error) {
    if (!(error instanceof NotFoundError) && !(error instanceof ForbiddenError)) throw error;
  }
}
