import type { MatchableDocument } from '../../src/shared/document.js';

/** A published document of alice's with the given metadata, as filters see it. */
export function matchable(
  metadata: MatchableDocument['metadata'],
  changes: Partial<MatchableDocument> = {},
): MatchableDocument {
  const published = {
    version: 1,
    kind: 'file' as const,
    contentType: 'application/pdf',
    filename: 'report.pdf',
    storageKey: 'k',
    sizeBytes: 1,
    sha256: '',
    createdAt: '2024-01-01T00:00:00.000Z',
    generation: 'g',
    chunkCount: 1,
    tokenCount: 1,
  };
  return {
    id: '0b7a4c1e-0000-4000-8000-000000000001',
    ownerId: 'alice',
    createdAt: '2024-05-01T10:00:00.000Z',
    readers: ['alice'],
    writers: ['alice'],
    admins: ['alice'],
    metadata,
    published,
    pending: null,
    ...changes,
  };
}
