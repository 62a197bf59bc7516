import { callerOf, type DocumentRecord } from '../../../shared/document.js';
import { noteCarried } from '../../../shared/documents/attachments/attachment-changes.js';
import { removeAttachment } from '../../../shared/documents/attachments/remove-with-attachments.js';
import { isCurrent, type Fence } from '../../../shared/documents/transitions.js';
import type { KeptAttachment, Receipt } from '../../../readers/index.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import { attachmentId } from './attachment-id.js';
import { createChangeDocuments } from './change-documents.js';
import { makeOne, type MakeOneParts } from './make-one.js';
import { noteInReceipt, type Made } from './note-in-receipt.js';

interface Dependencies extends MakeOneParts {
  readonly jobs: Pick<Jobs, 'addIngest' | 'addCleans'>;
}

interface Carried {
  /** The attempt at the document that carries them. */
  readonly run: Required<Fence>;
  readonly attachments: readonly KeptAttachment[];
  readonly receipt: Receipt;
  readonly requestId: string;
}

/**
 * Makes documents of the attachments of a document, with its owner and access. Resolves with its receipt, which names them
 * or the reason why there are none; with null when the attempt was superseded.
 *
 * Any step may run again: ids come from the content, and the document names its attachments before anything is there.
 * Attachments of former content stay until this content is published. Attachments for which there is no room are made
 * afterwards. So are all attachments of content that replaces published content: until it is published itself, it may fail
 * or be cancelled, and nobody may find anything of it.
 */
export type MakeAttachments = (record: DocumentRecord, carried: Carried) => Promise<Receipt | null>;

export function createMakeAttachments(parts: Dependencies): MakeAttachments {
  return async (record, { run, attachments, receipt, requestId }) => {
    const { pending } = record;
    if (!pending || attachments.length === 0) return receipt;
    const wanted = attachments.map((attachment) => ({
      attachment,
      id: attachmentId({ ...pending, id: record.id }, attachment.position),
    }));
    const ids = wanted.map(({ id }) => id);
    const parent = await note(parts, record, { run, ids });
    if (!parent) return null;
    const made: Made[] = [];
    const waiting: string[] = [];
    const callerId = callerOf(parent);
    const { ocr } = pending;
    const isWanted = (now: DocumentRecord) => isCurrent(now, run);
    const waitsForPublication = parent.published !== null;
    const common = { ocr, parent, waitsForPublication, callerId, requestId, isWanted };
    for (const { attachment, id } of wanted) {
      const fate = await makeOne(parts, { attachment, id, ...common });
      if (fate.kind === 'waits') waiting.push(id);
      const reason = fate.kind === 'refused' ? fate.reason : null;
      made.push({ position: attachment.position, documentId: reason === null ? id : null, reason });
    }
    // A document that was removed meanwhile could not remove attachments that were not there yet.
    if (!(await parts.records.read(record.id))) {
      const change = createChangeDocuments(parts, () => true);
      for (const id of ids) await removeAttachment(change, { documentId: id, callerId }, record.id);
      return null;
    }
    const left = await note(parts, parent, { run, ids, waiting });
    return left && noteInReceipt(receipt, made);
  };
}

interface Noted {
  readonly run: Required<Fence>;
  readonly ids: readonly string[];
  /** The attachments that are made later; undefined before that is decided. */
  readonly waiting?: readonly string[];
}

/**
 * Names the documents in the record. Attachments that another run at the same content has noted as waiting stay until this
 * run decides, since the other may publish the content at any moment. Null when the attempt was superseded.
 */
async function note(
  { records }: Dependencies,
  known: DocumentRecord,
  { run, ids, waiting }: Noted,
): Promise<DocumentRecord | null> {
  const notedIn = ({ pending }: DocumentRecord) =>
    pending?.carried?.ids.join() === ids.join() ? pending.carried.waiting : null;
  const noted = notedIn(known);
  if (noted !== null && noted.join() === (waiting ?? noted).join()) return known;
  const change = (each: DocumentRecord) =>
    isCurrent(each, run)
      ? noteCarried(each, { ids: [...ids], waiting: [...(waiting ?? notedIn(each) ?? [])] })
      : null;
  const { record, changed } = await records.update(known.id, change, known);
  return changed ? record : null;
}
