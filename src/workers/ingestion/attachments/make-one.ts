import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { detectFileType, DETECTION_BYTES, type KeptAttachment } from '../../../readers/index.js';
import { accessOfAttachments } from '../../../shared/access/access.js';
import { displayFilename, type Content, type DocumentRecord } from '../../../shared/document.js';
import { newDocument } from '../../../shared/documents/transitions.js';
import type { Records } from '../../../shared/documents/records.js';
import { countUnfinishedIngests, countUnfinishedIngestsOf } from '../../../shared/documents/counts.js';
import { OverQuotaError } from '../../../shared/errors.js';
import type { ObjectStorage } from '../../../shared/ports.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import type { Redis } from '../../../shared/redis/client.js';
import type { MemoryWatch } from '../../../shared/redis/memory.js';
import { sourceKey, type DraftObjects } from '../../../shared/storage/sources.js';

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
  /** The way in which it is cut into chunks, as the content that carries it. */
  readonly chunking: Content['chunking'];
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
  const { ocr, chunking } = wanted;
  const content = { ...stored, ...(ocr !== undefined && { ocr }), ...(chunking && { chunking }) };
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
  const collections = parent.collections ?? undefined;
  const shown = { metadata, collections, accessControl: {} };
  const details = { documentId: id, ownerId, callerId, ...shown, startedAtMs: Date.now() };
  const depth = (attachmentOf?.depth ?? 0) + 1;
  const attachment = { ...newDocument(content, details), attachmentOf: { documentId: parent.id, depth } };
  // The lists are the very same: the owner may have been taken off one.
  return { ...attachment, ...accessOfAttachments(parent) };
}

interface StoreParts {
  readonly storage: ObjectStorage;
  readonly drafts: DraftObjects;
}

/** Detects the type of an attachment by its content, its name and its declaration in the mail; null when it is not read. */
async function attachmentType({ file, filename, contentType }: KeptAttachment): Promise<string | null> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(DETECTION_BYTES), 0, DETECTION_BYTES, 0);
    return detectFileType(buffer.subarray(0, bytesRead), filename, contentType)?.contentType ?? null;
  } finally {
    await handle.close();
  }
}

/** Stores the bytes of an attachment. The sweep removes them if no record refers to them in the end. */
async function storeAttachment(
  { storage, drafts }: StoreParts,
  documentId: string,
  { file, filename, contentType }: KeptAttachment,
): Promise<Content> {
  const hash = createHash('sha256');
  const storageKey = sourceKey({ documentId, version: 1 });
  const { size } = await stat(file);
  await drafts.announce(storageKey);
  await storage.put(storageKey, hashed(createReadStream(file), hash));
  return {
    version: 1,
    kind: 'file',
    contentType,
    filename: displayFilename(filename),
    storageKey,
    sizeBytes: size,
    sha256: hash.digest('hex'),
    createdAt: new Date().toISOString(),
    generation: null,
    chunkCount: 0,
    tokenCount: 0,
  };
}

async function* hashed(
  bytes: AsyncIterable<Uint8Array>,
  hash: ReturnType<typeof createHash>,
): AsyncGenerator<Uint8Array> {
  for await (const part of bytes) {
    hash.update(part);
    yield part;
  }
}

/** The document that carries an attachment, and the fields of its content that make the id. */
type CarryingContent = Pick<DocumentRecord, 'id'> & Pick<Content, 'storageKey' | 'carriedSeries'>;

/**
 * Returns the id of the document that is made of an attachment. Each run over the same content gives the same id, so that a
 * job that runs again makes no second document; content that was cancelled and comes again gives another id. The form is a
 * UUID of version 8 (RFC 9562).
 */
export function attachmentId({ id, storageKey, carriedSeries }: CarryingContent, position: number): string {
  const series = carriedSeries === undefined ? [] : [carriedSeries];
  const digest = hash('sha256', JSON.stringify([id, storageKey, position, ...series]), 'hex');
  const variant = '89ab'.charAt(parseInt(digest.charAt(16), 16) % 4);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    variant + digest.slice(17, 20),
    digest.slice(20, 32),
  ].join('-');
}

interface WaitingLimits {
  readonly maxWaiting: number;
  readonly maxWaitingPerCaller: number;
}

/**
 * Tells whether the limits of uploads leave no room now for this many more documents of a caller. The document that carries
 * an attachment counts itself while it is read, and never fails by these limits.
 */
type RefuseToWait = (callerId: string, documents?: number) => Promise<boolean>;

export function createRefuseToWait(
  redis: Redis,
  { maxWaiting, maxWaitingPerCaller }: WaitingLimits,
  memory: MemoryWatch,
): RefuseToWait {
  return async (callerId, documents = 1) => {
    const [all, own, isShort] = await Promise.all([
      countUnfinishedIngests(redis),
      countUnfinishedIngestsOf(redis, callerId),
      memory.isShort(),
    ]);
    // More documents than may wait at all have room when nothing else waits.
    const isFull = (count: number, most: number) => count + Math.min(documents, most) > most;
    return isShort || isFull(own, maxWaitingPerCaller) || isFull(all, maxWaiting);
  };
}
