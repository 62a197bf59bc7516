import { accessOfAttachments } from '../../../shared/access/access.js';
import { callerOf, type Content, type DocumentRecord } from '../../../shared/document.js';
import { newDocument } from '../../../shared/documents/new-document.js';
import type { Records } from '../../../shared/documents/records.js';
import { isCurrent, noteAttachments, remove, type Fence } from '../../../shared/documents/transitions.js';
import type { KeptAttachment } from '../../../shared/extraction/kept-attachment.js';
import type { Receipt } from '../../../shared/extraction/receipt.js';
import type { ObjectStorage } from '../../../shared/ports.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { DraftObjects } from '../../../shared/storage/draft-objects.js';
import { attachmentId } from './attachment-id.js';
import { noteInReceipt, type Made } from './note-in-receipt.js';
import { attachmentType, storeAttachment } from './store-attachment.js';

interface Dependencies {
  readonly records: Records;
  readonly jobs: Pick<Jobs, 'addIngest' | 'addCleans'>;
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
  /** Says why no more documents of a caller may wait now; null when they may. */
  readonly refuseToWait: (callerId: string) => Promise<string | null>;
  readonly wasDeleted: (documentId: string) => Promise<boolean>;
}

interface Carried {
  /** The attempt at the document that carries them. */
  readonly run: Required<Fence>;
  readonly attachments: readonly KeptAttachment[];
  readonly receipt: Receipt;
  readonly requestId: string;
}

/**
 * Makes documents of what a document carries, with its owner and access, and resolves with its receipt, which names them or
 * the reason why there are none. Null when the attempt was superseded. Each may run again after any step: ids come from the
 * content, and the document names what is made of it before anything is there.
 */
export type MakeAttachments = (record: DocumentRecord, carried: Carried) => Promise<Receipt | null>;

export function createMakeAttachments(parts: Dependencies): MakeAttachments {
  return async (record, { run, attachments, receipt, requestId }) => {
    const storageKey = record.pending?.storageKey ?? '';
    const former = record.attachments ?? [];
    if (attachments.length === 0 && former.length === 0) return receipt;
    const wanted = attachments.map((attachment) => ({
      attachment,
      id: attachmentId({ id: record.id, storageKey }, attachment.position),
    }));
    const ids = wanted.map(({ id }) => id);
    const parent = await note(parts, record, { ...run, attachments: [...new Set([...former, ...ids])] });
    if (!parent) return null;
    const made: Made[] = [];
    for (const { attachment, id } of wanted) {
      const reason = await makeOne(parts, { attachment, id, parent, run, requestId });
      made.push({ position: attachment.position, documentId: reason === null ? id : null, reason });
    }
    // A document that was removed meanwhile could not remove what was not there yet.
    const isThere = await parts.records.read(record.id);
    const gone = isThere ? former.filter((id) => !ids.includes(id)) : ids;
    for (const id of gone) await removeOne(parts, record, id);
    if (!isThere) return null;
    const left = await note(parts, parent, { ...run, attachments: ids });
    return left && noteInReceipt(receipt, made);
  };
}

async function note(
  { records }: Dependencies,
  known: DocumentRecord,
  noted: Required<Fence> & { attachments: readonly string[] },
): Promise<DocumentRecord | null> {
  const isNoted = (known.attachments ?? []).join() === noted.attachments.join();
  if (isNoted) return known;
  const { record, changed } = await records.update(known.id, (each) => noteAttachments(each, noted), known);
  return changed ? record : null;
}

interface Wanted {
  readonly attachment: KeptAttachment;
  readonly id: string;
  readonly parent: DocumentRecord;
  readonly run: Required<Fence>;
  readonly requestId: string;
}

/** Resolves with null when there is a document of the attachment, else with the reason why not. */
async function makeOne(parts: Dependencies, wanted: Wanted): Promise<string | null> {
  const { attachment, id, parent, requestId } = wanted;
  const { records, jobs, refuseToWait, wasDeleted } = parts;
  const known = await records.read(id);
  if (known) {
    if (known.status === 'queued') await jobs.addIngest(known, { requestId, isPatient: true });
    return null;
  }
  if (await wasDeleted(id)) return 'Its document was deleted.';
  const contentType = await attachmentType(attachment);
  if (contentType === null) return 'Files of its type are not read.';
  const refusal = await refuseToWait(callerOf(parent));
  if (refusal !== null) return refusal;
  const content = await storeAttachment(parts, id, { ...attachment, contentType });
  const record = await create(parts, wanted, content);
  if (!record) return 'Its document was superseded.';
  await jobs.addIngest(record, { requestId, isPatient: true });
  return null;
}

/** Writes the record with the access that the parent has in that very moment. Null when its attempt was superseded. */
async function create(
  { records }: Dependencies,
  { id, parent, run }: Wanted,
  content: Content,
): Promise<DocumentRecord | null> {
  for (
    let now: DocumentRecord | null = parent;
    now && isCurrent(now, run);
    now = await records.read(now.id)
  ) {
    const record = newAttachment(id, now, content);
    if (await records.createBeside(record, now)) return record;
    // Another run at the same content may have come first.
    const known = await records.read(id);
    if (known) return known;
  }
  return null;
}

function newAttachment(id: string, parent: DocumentRecord, content: Content): DocumentRecord {
  const { ownerId, attachmentOf } = parent;
  const metadata = { parent_document_id: parent.id, attachment_filename: content.filename };
  const callerId = callerOf(parent);
  const details = { documentId: id, ownerId, callerId, metadata, accessControl: {}, startedAtMs: Date.now() };
  const depth = (attachmentOf?.depth ?? 0) + 1;
  const attachment = { ...newDocument(content, details), attachmentOf: { documentId: parent.id, depth } };
  // The lists are the very same: the owner may have been taken off one.
  return { ...attachment, ...accessOfAttachments(parent) };
}

/** Removes a document that was made of an attachment, with those of its own. */
async function removeOne(parts: Dependencies, parent: DocumentRecord, id: string): Promise<void> {
  const { records, jobs } = parts;
  const known = await records.read(id);
  if (known?.attachmentOf?.documentId !== parent.id) return;
  for (const inner of known.attachments ?? []) await removeOne(parts, known, inner);
  const { discarded } = await records.update(id, remove);
  await jobs.addCleans(discarded, parent.ownerId);
}
