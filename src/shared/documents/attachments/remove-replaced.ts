import type { Records } from '../records.js';
import { endRemovals, removalsOf } from './attachment-changes.js';
import { removeAttachment, type ChangeAsWriter } from './remove-with-attachments.js';

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
      if (await removeAttachment(change, { documentId: id, callerId }, documentId)) kept.push(id);
    const ended = removals.map(({ id }) => id);
    await records.update(documentId, (each) => endRemovals(each, { ended, kept }));
  }
}
