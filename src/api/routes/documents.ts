import { z } from 'zod';
import type { StoredChunk } from '../../shared/chunks/fields.js';
import { isFinal, displayFilename, MAX_FILENAME_CHARACTERS, type Metadata } from '../../shared/document.js';
import { preferenceApplied } from '../http/request/headers.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import {
  accessControlChange,
  accessControlMerge,
  metadata,
  metadataMerge,
  statedLists,
} from '../http/validation/document-fields.js';
import { nonBlankString, optionalNull } from '../http/validation/field-schemas.js';
import { page } from '../http/validation/paging.js';
import { documentNotFound } from '../services/documents/document-access.js';
import type { DocumentChanges, DocumentPatch } from '../services/documents/document-changes.js';
import type { LookUp } from '../services/documents/lookup.js';
import type { Documents } from '../services/documents/read-documents.js';
import type { ReadExtraction } from '../services/documents/read-extraction.js';
import type { CountFacets } from '../services/documents/count-facets.js';
import { facetsRoute } from './document-facets.js';
import { listRoute } from './document-list.js';
import { lookupRoute } from './document-lookup.js';
import {
  replyDocument,
  tagged,
  documentStatusView,
  documentView,
  viewDocument,
  viewStatus,
} from './document-view.js';
import {
  cancelDocumentExamples,
  deleteDocumentExamples,
  documentChunksExamples,
  documentStatusExamples,
  extractionExamples,
  getDocumentExamples,
  patchDocumentExamples,
  retryDocumentExamples,
} from './examples/documents.js';
import { extractionView, viewExtraction, whereaboutsFields } from './extraction-view.js';
import { LIMITS } from './ingest/upload-fields.js';

export const documentPath = z.object({
  document_id: z.string().describe('The `external_id` of the document.'),
});

const chunkView = z
  .object({
    chunk_number: z.int().min(0),
    content: z.string(),
    token_count: z.int().min(0),
    ...whereaboutsFields,
  })
  .meta({ id: 'Chunk', description: 'A passage of a document, as searches return it.' });

export interface DocumentRouteDependencies {
  readonly documents: Documents;
  readonly lookUp: LookUp;
  readonly countFacets: CountFacets;
  readonly readExtraction: ReadExtraction;
  readonly changes: DocumentChanges;
  /** The name of the bucket in the object storage. */
  readonly bucket: string;
}

export function createDocumentRoutes(dependencies: DocumentRouteDependencies): Route[] {
  return [
    listRoute(dependencies),
    lookupRoute(dependencies),
    facetsRoute(dependencies.countFacets),
    getRoute(dependencies),
    statusRoute(dependencies),
    chunksRoute(dependencies),
    extractionRoute(dependencies),
    patchRoute(dependencies),
    deleteRoute(dependencies),
    retryRoute(dependencies),
    cancelRoute(dependencies),
  ];
}

const reading = { method: 'get', tag: 'Documents', permission: 'read' } as const;
const changing = { tag: 'Documents', permission: 'write' } as const;

const getRoute = ({ documents, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}',
    audit: 'document.read',
    summary: 'Get a document',
    description: 'An id that no document has is a 404, and a document that the caller may not read a 403.',
    request: { path: documentPath },
    responses: { 200: documentView, 404: errorBody },
    examples: getDocumentExamples,
    handle: async ({ caller, path, signal }, reply) => {
      const record = await documents.get({
        documentId: path.document_id,
        principal: caller.principal,
        signal,
      });
      return reply.json(200, viewDocument(record, bucket), tagged(record));
    },
  });

const statusRoute = ({ documents }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}/status',
    audit: 'document.status',
    summary: 'Get the progress of an ingest',
    description: 'Ask again until `status` is `completed`, `failed` or `cancelled`.',
    request: { path: documentPath },
    responses: { 200: documentStatusView, 404: errorBody },
    examples: documentStatusExamples,
    handle: async ({ caller, path, signal }, reply) => {
      const record = await documents.get({
        documentId: path.document_id,
        principal: caller.principal,
        signal,
      });
      return reply.json(200, viewStatus(record));
    },
  });

const chunksRoute = ({ documents }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}/chunks',
    audit: 'document.chunks',
    summary: "List a document's chunks",
    description: 'Lists the chunks of the published version in the order of the text.',
    request: { path: documentPath, query: z.object(page) },
    responses: { 200: z.array(chunkView), 404: errorBody },
    examples: documentChunksExamples,
    handle: async ({ caller, path, query, signal }, reply) => {
      const request = { documentId: path.document_id, principal: caller.principal, signal };
      return reply.items(await documents.chunks(request, query), viewChunk);
    },
  });

const viewChunk = ({
  number,
  text,
  tokenCount,
  location,
  section,
}: StoredChunk): z.infer<typeof chunkView> => ({
  chunk_number: number,
  content: text,
  token_count: tokenCount,
  location,
  section: [...section],
});

const extractionRoute = ({ readExtraction }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}/extraction',
    audit: 'document.extraction',
    summary: 'Get what was read of a document, and what was not',
    description:
      'The receipt of the published version: the reader, the parts read of all, pages read by text recognition, and ' +
      'everything that was left out, with the reason. Answers 409 while nothing is published.',
    request: { path: documentPath },
    responses: { 200: extractionView, 404: errorBody, 409: errorBody },
    examples: extractionExamples,
    handle: async ({ caller, path, signal }, reply) => {
      const request = { documentId: path.document_id, principal: caller.principal, signal };
      const extraction = await readExtraction(request);
      return reply.json(200, viewExtraction(extraction));
    },
  });

const patchRoute = ({ changes, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'patch',
    path: '/documents/{document_id}',
    audit: 'document.change',
    maxBodyBytes: PATCH_BODY_BYTES,
    summary: 'Change metadata, file name or access of a document',
    description:
      'Answers 200 when searches see the change, and 202 when that takes too long. `application/merge-patch+json` changes ' +
      'single keys of the metadata, so that several clients can change different keys at once. With `If-Match`, the change is ' +
      'made only if the document is in that state, by the `ETag` of an answer or by its `version`; else 412. A reader who is removed finds ' +
      'nothing of the document from this moment on. Only admins of the document may change `access_control`.',
    request: { path: documentPath, body: patchBody, mergePatch: mergePatchBody },
    responses: { 200: documentView, 202: documentView, 404: errorBody, 409: errorBody, 412: errorBody },
    examples: patchDocumentExamples,
    handle: async (request, reply) => {
      const { metadata, filename, access_control } = request.body;
      const patch = {
        metadata,
        filename: filename === null ? null : (displayFilename(filename) ?? undefined),
        accessControl: access_control && statedLists(access_control),
      };
      const { prefer } = request;
      const awaited = await changes.patch(request.path.document_id, patch, request.context);
      return reply.pending(awaited, (record) =>
        replyDocument(record, record?.retag === 0, { bucket, prefer }),
      );
    },
  });

const deleteRoute = ({ changes }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'delete',
    path: '/documents/{document_id}',
    audit: 'document.delete',
    summary: 'Delete a document',
    description:
      'Searches find nothing of the document from this moment on. Its chunks and its source are removed soon after.',
    request: { path: documentPath },
    responses: { 200: z.object({ success: z.literal(true) }), 404: errorBody, 412: errorBody },
    examples: deleteDocumentExamples,
    handle: async (request, reply) => {
      await changes.remove(request.path.document_id, request.context);
      return reply.json(200, { success: true });
    },
  });

const retryRoute = ({ changes, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'post',
    path: '/documents/{document_id}/retry',
    audit: 'document.retry',
    summary: 'Ingest a failed or cancelled document again',
    description:
      'A document in any other state stays as it is, apart from attachments that could not be read when there was room for ' +
      'documents of them: these are taken up again.',
    request: { path: documentPath },
    responses: { 200: documentView, 202: documentView, 404: errorBody, 507: errorBody },
    examples: retryDocumentExamples,
    handle: async (request) => {
      const record = await changes.retry(request.path.document_id, request.context);
      return replyDocument(record, !record || isFinal(record), { bucket, prefer: request.prefer });
    },
  });

const cancelRoute = ({ changes, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'post',
    path: '/documents/{document_id}/cancel',
    audit: 'document.cancel',
    summary: 'Cancel an ingest',
    description:
      'A version that is published already stays. A document that is not being ingested stays as it is. Documents that were ' +
      'made of the attachments of what is cancelled are deleted before the response, as far as the caller may delete them.',
    request: { path: documentPath },
    responses: { 200: documentView, 404: errorBody },
    examples: cancelDocumentExamples,
    handle: async (request, reply) => {
      const record = await changes.cancel(request.path.document_id, request.context);
      // A cancelled document is final, so that the answer never is 202.
      if (!record) throw documentNotFound();
      return reply.json(200, viewDocument(record, bucket), {
        ...preferenceApplied(request.prefer, true),
        ...tagged(record),
      });
    },
  });

const newName = nonBlankString({ max: MAX_FILENAME_CHARACTERS });
const replaced = (after: Metadata) => () => after;

const patchBody = z
  .object({
    metadata: optionalNull(metadata)
      .transform((after): ChangeMetadata | undefined => after && replaced(after))
      .describe('Replaces all of the metadata.'),
    filename: optionalNull(newName)
      .transform((name): string | null | undefined => name)
      .describe('The new name, by whose words the document is found from then on.'),
    access_control: optionalNull(accessControlChange).describe(
      'Each list that is stated replaces the old one.',
    ),
  })
  .meta({
    id: 'DocumentPatch',
    description: 'The changes. Fields that are left out or null stay as they are.',
  });

const mergePatchBody = z
  .object({
    metadata: metadataMerge
      .optional()
      .transform((change) => change)
      .describe('Changes the keys that are named, also within objects; null takes a key away.'),
    filename: newName
      .nullish()
      .transform((name) => name)
      .describe('The new name; null takes it away.'),
    access_control: accessControlMerge
      .optional()
      .transform((lists) => lists)
      .describe('Each list that is stated replaces the old one; null empties it.'),
  })
  .meta({
    id: 'DocumentMergePatch',
    description:
      'The changes (RFC 7396). Fields that are left out stay as they are, and null takes something away.',
  });

type ChangeMetadata = NonNullable<DocumentPatch['metadata']>;

/** The same fields have this many bytes at most beside an upload; the rest is room for the file name. */
const PATCH_BODY_BYTES = LIMITS.metadata + LIMITS.access_control + 64 * 1024;
