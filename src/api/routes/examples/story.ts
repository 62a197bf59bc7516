import type { DocumentView } from '../document-view.js';

// All examples tell one story. Alice rents an office. She ingests the lease as a text and the handover report as a
// file, shares the lease with Bob, replaces it by an amended one, searches, asks, and builds a cache.

export const LEASE_ID = '0f2b7c1e-5d7a-4c39-9d0e-3c1f2a6b8e47';
export const HANDOVER_ID = '7a9d3f60-2b1c-4e8f-a5d4-91c6e07b3f28';

export const leaseText =
  'Lease of the office at 12 Mill Lane. The lease runs for three years from 1 March 2025. The rent is 1,800 euros a ' +
  'month. Either party may end the lease with three months of notice in writing.';
export const amendedText = leaseText.replace('1,800', '1,850');
export const handoverText =
  'Handover report of the office at 12 Mill Lane. All walls are freshly painted. The window in the kitchen does not ' +
  'close. Four keys were handed over.';

/** The lease as Alice ingests it. */
export const lease: DocumentView = {
  external_id: LEASE_ID,
  content_type: 'text/plain',
  filename: 'lease.txt',
  source_id: null,
  metadata: { kind: 'lease', year: 2025 },
  storage_info: {},
  system_metadata: {
    owner: 'alice',
    created_at: '2025-03-03T09:15:00.120Z',
    updated_at: '2025-03-03T09:15:00.164Z',
    version: 1,
    published_version: 1,
    status: 'completed',
    stage: 'completed',
    progress: 1,
    error: null,
    chunk_count: 1,
    token_count: 50,
    content_sha256: '46acbd5ed91f420cef3e127e3da21f46ae95e0061519d6608851ee073e96d9c2',
    size_bytes: 190,
    gaps: 0,
    chunking: null,
    extraction: null,
    programming_language: null,
    mail: null,
  },
  access_control: { readers: ['alice'], writers: ['alice'], admins: ['alice'] },
  chunk_ids: [`${LEASE_ID}-0`],
};

/** The handover report, which Bob may read from the beginning. */
export const handover: DocumentView = {
  external_id: HANDOVER_ID,
  content_type: 'text/plain',
  filename: 'handover.txt',
  source_id: null,
  metadata: { kind: 'handover', year: 2025 },
  storage_info: {
    bucket: 'disk',
    key: `2025-03-03T09/${HANDOVER_ID}-1-5c1e0b7a-8d24-4f6b-9a3e-2f7d6c81b904`,
  },
  system_metadata: {
    owner: 'alice',
    created_at: '2025-03-03T09:20:31.402Z',
    updated_at: '2025-03-03T09:20:31.655Z',
    version: 1,
    published_version: 1,
    status: 'completed',
    stage: 'completed',
    progress: 1,
    error: null,
    chunk_count: 1,
    token_count: 33,
    content_sha256: 'a356deb0aec51058b7ac760c8f1d43153a4b84f8066df9405d70a3f23852a1db',
    size_bytes: 147,
    gaps: 0,
    chunking: null,
    extraction: {
      parser: 'text',
      title: null,
      language: null,
      unit: 'file',
      parts: 1,
      parts_read: 1,
      ocr_pages: 0,
    },
    programming_language: null,
    mail: null,
  },
  access_control: { readers: ['alice', 'bob'], writers: ['alice'], admins: ['alice'] },
  chunk_ids: [`${HANDOVER_ID}-0`],
};

type Progress = Partial<DocumentView['system_metadata']>;

/** A document at another point of its life. */
export const withProgress = (document: DocumentView, progress: Progress): DocumentView => ({
  ...document,
  system_metadata: { ...document.system_metadata, ...progress },
});

/** A new document while its first version waits. */
export const queued = (document: DocumentView): DocumentView => ({
  ...withProgress(document, {
    published_version: null,
    status: 'queued',
    stage: 'queued',
    progress: 0,
    chunk_count: 0,
    token_count: 0,
    // Nothing of a text is left out; the gaps of a file are known when it was read.
    gaps: document.system_metadata.extraction === null ? 0 : null,
    extraction: null,
  }),
  chunk_ids: [],
});

export const documentNotFound = { detail: 'Document not found' };

export const overQuota = { detail: 'The quota of documents is reached: 1000' };
