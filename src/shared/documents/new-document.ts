import { randomUUID } from 'node:crypto';
import type { AccessLists } from '../access/access.js';
import type { Content, DocumentRecord, IngestOperation, Metadata } from '../document.js';

interface NewDocument {
  readonly documentId: string;
  readonly ownerId: string;
  /** The caller who asked for it. */
  readonly callerId: string;
  readonly metadata: Metadata;
  /** The owner is added to each list. */
  readonly accessControl: Partial<AccessLists>;
  readonly startedAtMs: number;
}

/** The record of a document that waits to be ingested for the first time. */
export function newDocument(
  content: Content,
  { documentId, ownerId, callerId, metadata, accessControl, startedAtMs }: NewDocument,
): DocumentRecord {
  const withOwner = (ids: readonly string[] = []) => [...new Set([ownerId, ...ids])];
  const { readers, writers, admins } = accessControl;
  return {
    id: documentId,
    ownerId,
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
    operation: newOperation(content, { documentId, userId: callerId, startedAtMs }),
    prepared: null,
    retag: 0,
    revision: 1,
  };
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
