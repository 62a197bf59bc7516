import { randomUUID } from 'node:crypto';
import type { AccessLists } from '../../../shared/access/access.js';
import {
  isFinal,
  type Content,
  type DocumentRecord,
  type IngestOperation,
  type Metadata,
} from '../../../shared/document.js';
import type { Effects } from '../../../shared/documents/change.js';
import type { Records } from '../../../shared/documents/records.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';
import type { RequestContext } from '../request-context.js';
import type { ReceiveFile } from './incoming-file.js';
import type { JobRequests } from './job-requests.js';
import type { Sources } from './sources.js';
import { beginToWait, type AwaitedDocument, type WaitForDocument } from './wait-for-document.js';

/** What a caller states about a document in addition to its content. */
export interface DocumentDetails {
  readonly metadata: Metadata;
  readonly accessControl: Partial<AccessLists>;
}

export interface TextIngest extends DocumentDetails {
  readonly content: string;
  readonly filename: string | null;
}

export interface Ingest {
  /** The wait ends when the document is final. Its result is null when the document was deleted. */
  ingestText(text: TextIngest, context: RequestContext): Promise<AwaitedDocument>;
  ingestFile(receive: ReceiveFile<DocumentDetails>, context: RequestContext): Promise<AwaitedDocument>;
}

export interface IngestParts {
  readonly records: Records;
  readonly sources: Sources;
  readonly jobs: JobRequests;
  readonly waitForDocument: WaitForDocument;
  readonly accounting: Accounting;
}

export function createIngest(parts: IngestParts): Ingest {
  const { sources, accounting } = parts;
  return {
    ingestText: async ({ content: text, filename, metadata, accessControl }, context) => {
      const documentId = randomUUID();
      const operation = begunOperation('ingest_text', context, filename === null ? {} : { filename });
      const store = () => sources.storeText({ documentId, version: 1 }, text);
      const { content, source } = await accounting.begin(operation, store);
      const details = { documentId, metadata, accessControl };
      const record = newRecord({ ...content, filename }, details, context);
      return accept(parts, { record, effects: source ? { source } : {} }, context);
    },
    ingestFile: async (receive, context) => {
      const documentId = randomUUID();
      const store = () => sources.storeFile({ documentId, version: 1 }, receive);
      const { content, details } = await accounting.begin(begunOperation('ingest_file', context), store);
      const record = newRecord(content, { ...details, documentId }, context);
      return accept(parts, { record, effects: {} }, context);
    },
  };
}

interface NewDocument {
  readonly record: DocumentRecord;
  readonly effects: Pick<Effects, 'source'>;
}

async function accept(
  { records, sources, jobs, waitForDocument }: IngestParts,
  { record, effects }: NewDocument,
  context: RequestContext,
): Promise<AwaitedDocument> {
  await create(records, sources, { record, effects });
  // The wait begins before a worker can know of the document, so that it misses no change.
  const { waitSeconds, signal } = context;
  const options = { waitSeconds, signal, isDone: isFinal, isNew: true };
  const awaited = beginToWait(waitForDocument, record, options);
  await jobs.ingest(record, context);
  return awaited;
}

async function create(records: Records, sources: Sources, { record, effects }: NewDocument): Promise<void> {
  try {
    await records.create(record, effects);
  } catch (error) {
    // Redis may have written the record although its reply was lost. While that is unknown the bytes stay. The sweep
    // removes them later if no record refers to them.
    const isWritten = await records.read(record.id).then(
      (found) => found !== null,
      () => null,
    );
    if (isWritten === true) return;
    if (isWritten === false && record.pending) await sources.discard(record.pending.storageKey);
    throw error;
  }
}

function newRecord(
  content: Content,
  { documentId, metadata, accessControl }: DocumentDetails & { readonly documentId: string },
  { callerId, startedAtMs }: RequestContext,
): DocumentRecord {
  const withOwner = (ids: readonly string[] = []) => [...new Set([callerId, ...ids])];
  const { readers, writers, admins } = accessControl;
  const operation = newOperation(content, { documentId, userId: callerId, startedAtMs });
  return {
    id: documentId,
    ownerId: callerId,
    createdAt: content.createdAt,
    updatedAt: content.createdAt,
    readers: withOwner(readers),
    writers: withOwner(writers),
    admins: withOwner(admins),
    metadata,
    version: 1,
    attempt: 1,
    status: 'queued',
    stage: 'queued',
    progress: 0,
    error: null,
    published: null,
    pending: content,
    operation,
    prepared: null,
    retag: 0,
    revision: 1,
  };
}

/** Describes an ingest whose bytes are not stored yet, for its usage event. */
export function begunOperation(
  operation: 'ingest_text' | 'ingest_file',
  { callerId, startedAtMs }: RequestContext,
  metadata: Metadata = {},
): AccountedRequest {
  return { operation, userId: callerId, startedAtMs, metadata };
}

/** Makes the operation that the usage record of an ingest will contain. */
export function newOperation(
  { kind, filename }: Content,
  { documentId, userId, startedAtMs }: { documentId: string; userId: string; startedAtMs: number },
): IngestOperation {
  return {
    id: randomUUID(),
    type: kind === 'text' ? 'ingest_text' : 'ingest_file',
    userId,
    startedAtMs,
    metadata: { document_id: documentId, ...(filename === null ? {} : { filename }) },
  };
}
