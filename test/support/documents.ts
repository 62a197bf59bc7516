import { randomUUID } from 'node:crypto';
import type { Content, DocumentRecord, IngestOperation } from '../../src/shared/document.js';

/** A queued document of `owner` with everything a record needs. */
export function makeDocument(changes: Partial<DocumentRecord> = {}): DocumentRecord {
  const id = changes.id ?? randomUUID();
  const ownerId = changes.ownerId ?? 'owner';
  const at = '2026-01-01T00:00:00.000Z';
  return {
    id,
    ownerId,
    createdAt: at,
    updatedAt: at,
    readers: [ownerId],
    writers: [ownerId],
    admins: [ownerId],
    metadata: {},
    version: 1,
    attempt: 1,
    status: 'queued',
    stage: 'queued',
    progress: 0,
    error: null,
    published: null,
    pending: makeContent(),
    operation: makeOperation({ userId: ownerId }),
    prepared: null,
    retag: 0,
    revision: 1,
    ...changes,
  };
}

export function makeContent(changes: Partial<Content> = {}): Content {
  return {
    version: 1,
    kind: 'text',
    contentType: 'text/plain',
    filename: null,
    storageKey: 'a/1',
    sizeBytes: 3,
    sha256: 'abc',
    createdAt: '2026-01-01T00:00:00.000Z',
    generation: null,
    chunkCount: 0,
    tokenCount: 0,
    ...changes,
  };
}

export function makeOperation(changes: Partial<IngestOperation> = {}): IngestOperation {
  return {
    id: randomUUID(),
    type: 'ingest_text',
    userId: 'owner',
    startedAtMs: Date.now(),
    metadata: {},
    ...changes,
  };
}
