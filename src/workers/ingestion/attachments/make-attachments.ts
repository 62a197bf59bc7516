import {
  addGaps,
  missingAttachment,
  type KeptAttachment,
  type Receipt,
  type Gap,
  type AttachmentLimits,
} from '../../../readers/index.js';
import { principalOf } from '../../../shared/access/access.js';
import { callerOf, type DocumentRecord } from '../../../shared/document.js';
import { noteCarried } from '../../../shared/documents/attachments/attachment-changes.js';
import { removeAttachment } from '../../../shared/documents/attachments/remove-with-attachments.js';
import { isCurrent, type Fence } from '../../../shared/documents/transitions.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import { createChangeDocuments } from './remove-replaced.js';
import { attachmentId, makeOne, type MakeOneParts } from './make-one.js';

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
    const { ocr, chunking } = pending;
    const isWanted = (now: DocumentRecord) => isCurrent(now, run);
    const waitsForPublication = parent.published !== null;
    const common = { ocr, chunking, parent, waitsForPublication, callerId, requestId, isWanted };
    for (const { attachment, id } of wanted) {
      const fate = await makeOne(parts, { attachment, id, ...common });
      if (fate.kind === 'waits') waiting.push(id);
      const reason = fate.kind === 'refused' ? fate.reason : null;
      made.push({ position: attachment.position, documentId: reason === null ? id : null, reason });
    }
    // A document that was removed meanwhile could not remove attachments that were not there yet.
    if (!(await parts.records.read(record.id))) {
      const change = createChangeDocuments(parts, null);
      const principal = principalOf(callerId);
      for (const id of ids) await removeAttachment(change, { documentId: id, principal }, record.id);
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

/** The fate of an attachment that was kept. */
interface Made {
  readonly position: number;
  /** The document that there is or will be of it. */
  readonly documentId: string | null;
  /** The reason why there is no document; null when there is one, or will be. */
  readonly reason: string | null;
}

/** Notes which documents were made of attachments. One that was not made is a gap. */
function noteInReceipt(receipt: Receipt, made: readonly Made[]): Receipt {
  const attachments = [...receipt.attachments];
  const missing: Gap[] = [];
  for (const { position, documentId, reason } of made) {
    const named = attachments[position];
    if (named) attachments[position] = { ...named, document_id: documentId, reason };
    if (reason !== null) missing.push(missingAttachment(named?.filename, reason));
  }
  return { ...addGaps(receipt, missing), attachments };
}

interface AttachmentSettings {
  /** True if attachments become documents. */
  readonly attachments: boolean;
  readonly attachmentDepth: number;
  readonly maxAttachments: number;
  readonly maxFileBytes: number;
}

/** Returns the attachments of a document that become documents; undefined when none ever does. */
export function attachmentLimits(
  { attachments, attachmentDepth, maxAttachments, maxFileBytes }: AttachmentSettings,
  { attachmentOf }: Pick<DocumentRecord, 'attachmentOf'>,
): AttachmentLimits | undefined {
  if (!attachments) return undefined;
  const isTooDeep = (attachmentOf?.depth ?? 0) >= attachmentDepth;
  return {
    most: maxAttachments,
    mostBytes: maxFileBytes,
    refusal: isTooDeep ? `Attachments are read to a depth of ${String(attachmentDepth)}.` : null,
  };
}
