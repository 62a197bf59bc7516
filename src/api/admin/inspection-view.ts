import type { DocumentInspection } from '../services/documents/document-inspection.js';

/** Converts an inspection to its public JSON. */
export function viewInspection(document: DocumentInspection) {
  const { status, stage, progress, error, version, attempt, retagging, jobs } = document;
  return {
    document_id: document.documentId,
    owner_id: document.ownerId,
    filename: document.filename,
    status,
    stage,
    progress,
    error,
    version,
    attempt,
    published_version: document.publishedVersion,
    retagging,
    created_at: document.createdAt,
    updated_at: document.updatedAt,
    ingest_started_at: document.ingestStartedAt,
    published: document.published && viewVersion(document.published),
    pending: document.pending && viewVersion(document.pending),
    generations: document.generations.map(({ id, ...counts }) => ({ id, ...viewCounts(counts) })),
    jobs,
  };
}

interface Counts {
  readonly chunkCount: number;
  readonly tokenCount: number;
}

const viewVersion = ({ version, createdAt, ...counts }: NonNullable<DocumentInspection['published']>) => ({
  version,
  created_at: createdAt,
  ...viewCounts(counts),
});

const viewCounts = ({ chunkCount, tokenCount }: Counts) => ({
  chunk_count: chunkCount,
  token_count: tokenCount,
});
