import { accessOfAttachments } from '../../../shared/access/access.js';
import type { Content, DocumentRecord } from '../../../shared/document.js';
import { newDocument } from '../../../shared/documents/new-document.js';
import type { Records } from '../../../shared/documents/records.js';
import { OverQuotaError } from '../../../shared/errors.js';
import type { KeptAttachment } from '../../../readers/index.js';
import type { ObjectStorage } from '../../../shared/ports.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { DraftObjects } from '../../../shared/storage/draft-objects.js';
import type { RefuseToWait } from './refuse-to-wait.js';
import { attachmentType, storeAttachment } from './store-attachment.js';

export interface MakeOneParts {
  readonly records: Records;
  readonly jobs: Pick<Jobs, 'addIngest'>;
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
  readonly refuseToWait: RefuseToWait;
  readonly wasDeleted: (documentId: string) => Promise<boolean>;
}

export interface WantedAttachment {
  readonly attachment: KeptAttachment;
  readonly id: string;
  /** The pages read by text recognition, as for the content that carries the attachment. */
  readonly ocr: Content['ocr'];
  /** The document that carries it, as it was read before. */
  readonly parent: DocumentRecord;
  /** True if no document may be made of it before the content that carries it is published. */
  readonly waitsForPublication: boolean;
  /** On whose behalf it is made. */
  readonly callerId: string;
  readonly requestId: string;
  /** Tells whether the document that carries it, as it is now, still is to have it. */
  readonly isWanted: (parent: DocumentRecord) => boolean;
}

/** The fate of an attachment: a document is made of it, or will be when its turn comes, or there is none. */
export type Fate =
  | { readonly kind: 'made' }
  | { readonly kind: 'waits' }
  | { readonly kind: 'refused'; readonly reason: string };

const refused = (reason: string): Fate => ({ kind: 'refused', reason });

/** Makes a document of an attachment unless it is there. May run again after any step. */
export async function makeOne(parts: MakeOneParts, wanted: WantedAttachment): Promise<Fate> {
  const { attachment, id, callerId, requestId } = wanted;
  const { records, jobs, refuseToWait, wasDeleted } = parts;
  const known = await records.read(id);
  if (known) {
    if (known.status === 'queued') await jobs.addIngest(known, { requestId, isPatient: true });
    return { kind: 'made' };
  }
  if (await wasDeleted(id)) return refused('Its document was deleted.');
  const contentType = await attachmentType(attachment);
  if (contentType === null) return refused('Files of its type are not read.');
  if (wanted.waitsForPublication || (await refuseToWait(callerId))) return { kind: 'waits' };
  const stored = await storeAttachment(parts, id, { ...attachment, contentType });
  const content = wanted.ocr === undefined ? stored : { ...stored, ocr: wanted.ocr };
  const record = await create(parts, wanted, content).catch(unlessOverQuota);
  if (record instanceof OverQuotaError) return refused(`${record.message}.`);
  if (!record) return refused('Its document was superseded.');
  await jobs.addIngest(record, { requestId, isPatient: true });
  return { kind: 'made' };
}

function unlessOverQuota(error: unknown): OverQuotaError {
  if (error instanceof OverQuotaError) return error;
  throw error;
}

/** Writes the record with the access that the parent has in that very moment. Null when it is not wanted any more. */
async function create(
  { records }: MakeOneParts,
  { id, parent, callerId, isWanted }: WantedAttachment,
  content: Content,
): Promise<DocumentRecord | null> {
  for (let now: DocumentRecord | null = parent; now && isWanted(now); now = await records.read(now.id)) {
    const record = newAttachment({ id, callerId }, now, content);
    if (await records.createBeside(record, now)) return record;
    // Another run at the same content may have come first.
    const known = await records.read(id);
    if (known) return known;
  }
  return null;
}

function newAttachment(
  { id, callerId }: Pick<WantedAttachment, 'id' | 'callerId'>,
  parent: DocumentRecord,
  content: Content,
): DocumentRecord {
  const { ownerId, attachmentOf } = parent;
  const metadata = { parent_document_id: parent.id, attachment_filename: content.filename };
  const details = { documentId: id, ownerId, callerId, metadata, accessControl: {}, startedAtMs: Date.now() };
  const depth = (attachmentOf?.depth ?? 0) + 1;
  const attachment = { ...newDocument(content, details), attachmentOf: { documentId: parent.id, depth } };
  // The lists are the very same: the owner may have been taken off one.
  return { ...attachment, ...accessOfAttachments(parent) };
}
