import { NEWEST_FIRST } from '../../../shared/documents/list-order.js';
import { listDigest, writeCursor } from '../../http/validation/paging.js';
import type { DocumentStatusView, DocumentView } from '../document-view.js';
import { COLLECTION_ID, collectionNotFound } from './collections.js';
import {
  amendedText,
  documentNotFound,
  handover,
  HANDOVER_ID,
  handoverText,
  lease,
  LEASE_ID,
  leaseText,
  overQuota,
  queued,
  withProgress,
} from './story.js';

const path = { document_id: LEASE_ID };

const NAME_WORDS = 'lease';
/** The place before all documents of the story, of the very list that the other parameters ask for. The id of the collection is a part of it. */
export const cursorWithin = (collection: string): string =>
  writeCursor({
    order: NEWEST_FIRST,
    position: { value: '2035-01-01T00:00:00.000Z', id: LEASE_ID, rank: 0 },
    digest: listDigest([{ kind: 'lease' }, NAME_WORDS, 'all', { collection }]),
  });

export const listDocumentsExamples = {
  query: {
    skip: 0,
    limit: 10,
    filters: '{"kind": "lease"}',
    shared: 'all' as const,
    collection: COLLECTION_ID,
    cursor: cursorWithin(COLLECTION_ID),
    total: true,
    sort: 'created' as const,
    order: 'desc' as const,
    q: NAME_WORDS,
  },
  responses: { 200: [lease], 404: collectionNotFound },
};

export const lookupExamples = {
  body: { sha256: [lease.system_metadata.content_sha256, '0'.repeat(64)] },
  responses: {
    200: {
      documents: [
        {
          document_id: LEASE_ID,
          source_id: null,
          sha256: lease.system_metadata.content_sha256,
          version: 1,
          status: 'completed' as const,
        },
      ],
      missing: ['0'.repeat(64)],
    },
  },
};

export const countFacetsExamples = {
  plain: { keys: ['content_type'] },
  body: {
    keys: ['kind', 'content_type'],
    filters: { kind: 'lease' },
    limit: 10,
    shared: 'all' as const,
    collection: COLLECTION_ID,
  },
  responses: {
    404: collectionNotFound,
    200: {
      total: 1,
      counted: 1,
      facets: [
        { key: 'kind', documents: 1, values: [{ value: 'lease', count: 1 }], other: 0, complete: true },
        {
          key: 'content_type',
          documents: 1,
          values: [{ value: 'text/plain', count: 1 }],
          other: 0,
          complete: true,
        },
      ],
    },
  },
};

export const getDocumentExamples = { path, responses: { 200: lease, 404: documentNotFound } };

const status: DocumentStatusView = {
  document_id: LEASE_ID,
  version: 1,
  published_version: 1,
  status: 'completed',
  stage: 'completed',
  progress: 1,
  error: null,
};

export const documentStatusExamples = { path, responses: { 200: status, 404: documentNotFound } };

export const documentChunksExamples = {
  path,
  query: { skip: 0, limit: 10 },
  responses: {
    200: [
      {
        chunk_number: 0,
        content: leaseText,
        token_count: 50,
        location: { lines: { first: 1, last: 1 } },
        section: [],
      },
    ],
    404: documentNotFound,
  },
};

export const extractionExamples = {
  path,
  responses: {
    200: {
      document_id: LEASE_ID,
      version: 1,
      parser: 'text',
      parser_version: '1',
      title: null,
      language: null,
      mail: null,
      unit: 'file' as const,
      parts: 1,
      parts_read: 1,
      characters: 190,
      tokens: 50,
      ocr: { pages: 0, confidence: null },
      gap_count: 0,
      gap_counts: {},
      gaps: [],
      attachments: [],
      former_attachments: [],
    },
    404: documentNotFound,
    409: { detail: 'The document has not been read yet' },
  },
};

export const pageExamples = {
  path: { document_id: LEASE_ID, page: 1 },
  query: { highlight: '0:0-40' },
  responses: {
    200: 'a picture',
    404: { detail: 'The document has no pages that can be shown' },
    409: { detail: 'The document has not been read yet' },
  },
};

const otherState = { detail: 'The document is not in the state that If-Match names' };

const shared: DocumentView = {
  ...lease,
  metadata: { kind: 'lease', year: 2025, signed: true },
  filename: 'lease-mill-lane.txt',
  access_control: { readers: ['alice', 'bob'], writers: ['alice'], admins: ['alice'] },
};

export const patchDocumentExamples = {
  path,
  plain: { filename: 'lease-mill-lane.txt' },
  body: {
    metadata: { kind: 'lease', year: 2025, signed: true },
    filename: 'lease-mill-lane.txt',
    access_control: { readers: ['alice', 'bob'] },
  },
  responses: {
    200: shared,
    202: withProgress(shared, { stage: 'access' }),
    404: documentNotFound,
    409: { detail: 'All of these admins have left the document, and one has to remain' },
    412: otherState,
  },
};

const amended: DocumentView = {
  ...withProgress(shared, {
    updated_at: '2025-03-04T08:02:10.377Z',
    version: 2,
    published_version: 2,
    content_sha256: '954b28c6234a89790daeb7592ee09d33157894b9ee2583065d427b3679ee1e94',
  }),
  filename: 'lease-amended.txt',
};

export const putContentExamples = {
  path,
  plain: { content: amendedText },
  body: { content: amendedText, filename: 'lease-amended.txt' },
  upload: { file: handoverText },
  responses: {
    200: amended,
    202: withProgress(amended, { published_version: 1, status: 'queued', stage: 'queued', progress: 0 }),
    400: { detail: 'Malformed multipart body' },
    404: documentNotFound,
    409: { detail: 'The ingest was cancelled' },
    507: overQuota,
    412: otherState,
  },
};

export const deleteDocumentExamples = {
  path,
  responses: { 200: { success: true as const }, 404: documentNotFound, 412: otherState },
};

export const retryDocumentExamples = {
  path: { document_id: HANDOVER_ID },
  responses: { 200: handover, 202: queued(handover), 404: documentNotFound, 507: overQuota },
};

export const cancelDocumentExamples = {
  path: { document_id: HANDOVER_ID },
  responses: {
    200: withProgress(queued(handover), { status: 'cancelled', stage: 'cancelled' }),
    404: documentNotFound,
  },
};

const sourceMissing = { detail: 'The source of this document is missing' };

export const downloadExamples = {
  path: { document_id: HANDOVER_ID },
  responses: { 200: handoverText, 403: { detail: 'Insufficient permissions' }, 404: sourceMissing },
};

export const signedDownloadExamples = {
  path: { document_id: HANDOVER_ID },
  query: {
    caller: 'alice',
    expires: '1740997231',
    signature: '3q7Yp58gExreyvuQGYfV4WWmikyCem4Z_fFcSBuZToY',
  },
  responses: {
    200: handoverText,
    403: { detail: 'Invalid or expired download address' },
    404: sourceMissing,
  },
};
