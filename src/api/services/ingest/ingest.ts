import { randomUUID } from 'node:crypto';
import { at } from '../../../shared/at.js';
import type { AccessLists } from '../../../shared/access/access.js';
import { isFinal, type Content, type DocumentRecord, type Metadata } from '../../../shared/document.js';
import type { NewRecord } from '../../../shared/documents/change.js';
import { newDocument } from '../../../shared/documents/new-document.js';
import type { Records } from '../../../shared/documents/records.js';
import { DuplicateDeletedError } from '../../../shared/errors.js';
import type { OcrMode } from '../../../readers/index.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';
import type { RequestContext } from '../request-context.js';
import { refuseOrReturn, type Duplicates, type OnDuplicate } from './duplicates.js';
import type { ReceiveFile } from './incoming.js';
import type { JobRequests } from './job-requests.js';
import type { Sources } from './sources.js';
import { createStoreTogether, wasWritten, type StoreTogether } from './store-together.js';
import { beginToWait, type AwaitedDocument, type WaitForDocument } from './wait-for-document.js';

/** The details that a caller states about a document in addition to its content. */
export interface DocumentDetails {
  readonly metadata: Metadata;
  readonly accessControl: Partial<AccessLists>;
  readonly onDuplicate: OnDuplicate;
  /** The pages of a file that are read by text recognition; the setting holds where it is undefined. */
  readonly ocr: OcrMode | undefined;
}

export interface TextIngest extends DocumentDetails {
  readonly content: string;
  readonly filename: string | null;
}

export interface Ingest {
  /**
   * The wait ends when the document is final. Its result is null when the document was deleted, and it rejects with
   * DuplicateDeletedError when that was there before.
   */
  ingestText(text: TextIngest, context: RequestContext): Promise<AwaitedDocument>;
  ingestFile(receive: ReceiveFile<DocumentDetails>, context: RequestContext): Promise<AwaitedDocument>;
}

export interface IngestParts {
  readonly records: Records;
  readonly sources: Sources;
  readonly jobs: JobRequests;
  readonly waitForDocument: WaitForDocument;
  readonly accounting: Accounting;
  readonly duplicates: Duplicates;
  /** Refuses a file before it is received, if its owner can have no more. @throws OverQuotaError */
  readonly requireQuota: (ownerId: string) => Promise<void>;
}

export function createIngest(parts: IngestParts): Ingest {
  const { sources, accounting, duplicates } = parts;
  const storeTogether = createStoreTogether(parts);
  return {
    ingestText: async ({ content: text, filename, ...details }, context) => {
      const known = details.onDuplicate === 'new' ? null : await duplicates.findText(context.callerId, text);
      if (known) return answerDuplicate(parts, known, { ...details, context });
      const documentId = documentIdOf(context);
      const operation = begunOperation('ingest_text', context, filename === null ? {} : { filename });
      const store = () => sources.storeText({ documentId, version: 1, ownerId: context.callerId }, text);
      const { content, source } = await accounting.begin(operation, store);
      const record = newRecord({ ...content, filename }, { ...details, documentId }, context);
      // A record has a step of its own where anything else is bound to the step that writes it.
      const mayShare = source && details.onDuplicate === 'new' && !context.reservation;
      const accepting = { ...details, context };
      return mayShare
        ? acceptTogether({ ...parts, storeTogether }, { record, source }, accepting)
        : accept(parts, { record, source }, accepting);
    },
    ingestFile: async (receive, context) => {
      await parts.requireQuota(context.callerId);
      const documentId = documentIdOf(context);
      const store = () => sources.storeFile({ documentId, version: 1, ownerId: context.callerId }, receive);
      const { content, details } = await accounting.begin(begunOperation('ingest_file', context), store);
      const record = newRecord(content, { ...details, documentId }, context);
      return accept(parts, { record }, { ...details, context });
    },
  };
}

/** A request with an `Idempotency-Key` has the id of its document before it begins. */
const documentIdOf = ({ reservation }: RequestContext): string => reservation?.id ?? randomUUID();

interface Accepting {
  readonly onDuplicate: OnDuplicate;
  readonly context: RequestContext;
}

/** The same for a short text, which may be stored and ingested together with others of its caller. */
async function acceptTogether(
  { storeTogether, waitForDocument }: { storeTogether: StoreTogether; waitForDocument: WaitForDocument },
  created: NewRecord,
  { context }: Accepting,
): Promise<AwaitedDocument> {
  const { waitSeconds, expiresAtMs, signal, arrival } = context;
  const options = { waitSeconds, expiresAtMs, signal, isDone: isFinal, isNew: true };
  const begun: AwaitedDocument[] = [];
  arrival?.becomes(created.record.id);
  const onWritten = () => void begun.push(beginToWait(waitForDocument, created.record, options));
  await storeTogether({ created, context, onWritten });
  return at(begun, 0);
}

async function accept(
  parts: IngestParts,
  created: NewRecord,
  { onDuplicate, context }: Accepting,
): Promise<AwaitedDocument> {
  const { record } = created;
  const { jobs, waitForDocument } = parts;
  const known = await create(parts, created, { onDuplicate, context });
  if (known) return answerDuplicate(parts, known, { onDuplicate, context });
  // The wait begins before a worker can know of the document, so that it misses no change.
  const { waitSeconds, expiresAtMs, signal } = context;
  const options = { waitSeconds, expiresAtMs, signal, isDone: isFinal, isNew: true };
  const awaited = beginToWait(waitForDocument, record, options);
  await jobs.ingest(record, context);
  return awaited;
}

/**
 * Answers with a document that has the content already. The wait rejects when that is deleted meanwhile, since nothing was
 * made of the content.
 * @throws DuplicateError
 */
function answerDuplicate(
  { waitForDocument }: IngestParts,
  known: DocumentRecord,
  { onDuplicate, context }: Accepting,
): AwaitedDocument {
  refuseOrReturn(known, onDuplicate);
  const { waitSeconds, expiresAtMs, signal } = context;
  const awaited = beginToWait(waitForDocument, known, { waitSeconds, expiresAtMs, signal, isDone: isFinal });
  return { ...awaited, settled: awaited.settled.then(requireKnown) };
}

function requireKnown(record: DocumentRecord | null): DocumentRecord {
  if (!record) throw new DuplicateDeletedError();
  return record;
}

/** Writes a new record. Resolves with the owner's document of the same content if that is not to be made again. */
async function create(
  { records, sources, duplicates }: IngestParts,
  { record, source }: NewRecord,
  { onDuplicate, context: { reservation, arrival } }: Accepting,
): Promise<DocumentRecord | null> {
  arrival?.becomes(record.id);
  try {
    const effects = { source, onlyNewContent: onDuplicate !== 'new', reservation };
    const known = await duplicates.writeUnlessKnown(record, () => records.create(record, effects));
    if (known && record.pending) await sources.discard(record.pending.storageKey);
    return known;
  } catch (error) {
    const isWritten = await wasWritten(records, record);
    if (isWritten === true) return null;
    if (isWritten === false && record.pending) await sources.discard(record.pending.storageKey);
    throw error;
  }
}

interface NewDocument extends Pick<DocumentDetails, 'metadata' | 'accessControl'> {
  readonly documentId: string;
  readonly ocr?: OcrMode | undefined;
}

export function newRecord(
  content: Content,
  details: NewDocument,
  { callerId, startedAtMs }: RequestContext,
): DocumentRecord {
  return newDocument(withOcr(content, details.ocr), { ...details, ownerId: callerId, callerId, startedAtMs });
}

/** Notes in a file's content how it is to be read, so that every attempt reads it the same way. */
export function withOcr(content: Content, ocr: OcrMode | undefined): Content {
  return content.kind === 'file' && ocr !== undefined ? { ...content, ocr } : content;
}

/** Describes an ingest whose bytes are not stored yet, for its usage event. */
export function begunOperation(
  operation: 'ingest_text' | 'ingest_file',
  { callerId, startedAtMs }: RequestContext,
  metadata: Metadata = {},
): AccountedRequest {
  return { operation, userId: callerId, startedAtMs, metadata };
}
