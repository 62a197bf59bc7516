import { randomUUID } from 'node:crypto';
import type { AccessLists } from '../../shared/access.js';
import type { Content, DocumentRecord, IngestOperation, Metadata } from '../../shared/document.js';
import type { Records } from '../../shared/records.js';
import type { ReceiveUpload } from '../upload.js';
import type { AccountedRequest, Accounting } from './accounting.js';
import type { JobRequests } from './job-requests.js';
import { beginSettling, patienceOf, type Patience, type Settle, type Settling } from './settling.js';
import type { Sources } from './sources.js';
import { createUploadFields } from './upload-fields.js';
import { isSettled } from './document-view.js';

/** Who asks, since when, and how long they wait. An ApiRequest is one. */
export interface IngestContext extends Patience {
  readonly caller: { readonly id: string };
  readonly requestId: string;
  readonly startedAtMs: number;
}

export interface TextIngest {
  readonly content: string;
  readonly filename: string | null;
  readonly metadata: Metadata;
  readonly accessControl: Partial<AccessLists>;
}

export interface Ingest {
  /** The wait is for the document to be final; null when it was deleted. */
  ingestText(text: TextIngest, context: IngestContext): Promise<Settling>;
  ingestFile(receiveUpload: ReceiveUpload, context: IngestContext): Promise<Settling>;
}

export function createIngest({
  records,
  sources,
  jobs,
  settle,
  accounting,
}: {
  readonly records: Records;
  readonly sources: Sources;
  readonly jobs: JobRequests;
  readonly settle: Settle;
  readonly accounting: Accounting;
}): Ingest {
  const accept = async (
    content: Content,
    asked: Omit<TextIngest, 'content' | 'filename'> & { readonly documentId: string },
    context: IngestContext,
  ) => {
    const record = newRecord(content, asked, context);
    await create(record, content);
    // The wait listens before a worker can hear of the document.
    const settling = beginSettling(settle, record, {
      ...patienceOf(context),
      ...{ isDone: isSettled, isNew: true },
    });
    await jobs.ingest(record, context);
    return settling;
  };

  const create = async (record: DocumentRecord, content: Content) => {
    try {
      await records.create(record);
    } catch (error) {
      // A reply that was lost does not mean that nothing was written. As long as Redis does not say, the bytes stay:
      // they are swept one day, should no record refer to them.
      const isWritten = await records.read(record.id).then(
        (found) => found !== null,
        () => null,
      );
      if (isWritten === true) return;
      if (isWritten === false) await sources.discard(content.storageKey);
      throw error;
    }
  };

  return {
    ingestText: async ({ content: text, filename, ...asked }, context) => {
      const documentId = randomUUID();
      const operation = begunOperation('ingest_text', context, filename === null ? {} : { filename });
      const store = () => sources.storeText({ documentId, version: 1 }, text);
      const content = await accounting.begin(operation, store);
      return accept({ ...content, filename }, { ...asked, documentId }, context);
    },
    ingestFile: async (receiveUpload, context) => {
      const documentId = randomUUID();
      const fields = createUploadFields();
      const source = { receiveUpload, fields: fields.limits, onField: fields.take };
      const store = () => sources.storeUpload({ documentId, version: 1 }, source);
      const content = await accounting.begin(begunOperation('ingest_file', context), store);
      return accept(content, { ...fields.values(), documentId }, context);
    },
  };
}

function newRecord(
  content: Content,
  asked: Omit<TextIngest, 'content' | 'filename'> & { readonly documentId: string },
  { caller, startedAtMs }: IngestContext,
): DocumentRecord {
  const withOwner = (ids: readonly string[] = []) => [...new Set([caller.id, ...ids])];
  const { readers, writers, admins } = asked.accessControl;
  const operation = newOperation(content, { documentId: asked.documentId, userId: caller.id, startedAtMs });
  return {
    id: asked.documentId,
    ownerId: caller.id,
    ...{ createdAt: content.createdAt, updatedAt: content.createdAt },
    ...{ readers: withOwner(readers), writers: withOwner(writers), admins: withOwner(admins) },
    metadata: asked.metadata,
    ...{ version: 1, attempt: 1, status: 'queued', stage: 'queued', progress: 0, error: null },
    ...{ published: null, pending: content, operation, retag: 0, revision: 1 },
  };
}

/** An ingest whose bytes are still to be stored. */
export function begunOperation(
  operation: 'ingest_text' | 'ingest_file',
  { caller, startedAtMs }: IngestContext,
  metadata: Metadata = {},
): AccountedRequest {
  return { operation, userId: caller.id, startedAtMs, metadata };
}

/** What the usage record of an ingest of `content` will say. */
export function newOperation(
  { kind, filename }: Content,
  { documentId, userId, startedAtMs }: { documentId: string; userId: string; startedAtMs: number },
): IngestOperation {
  return {
    ...{ id: randomUUID(), type: kind === 'text' ? 'ingest_text' : 'ingest_file', userId, startedAtMs },
    metadata: { document_id: documentId, ...(filename === null ? {} : { filename }) },
  };
}
