import { z } from 'zod';
import type { StoredChunk } from '../../shared/chunks/fields.js';
import { isFinal, type DocumentRecord } from '../../shared/document.js';
import { queryFilters } from '../http/validation/filters.js';
import { nonBlankString, optionalNull, optionalOr, queryInteger } from '../http/validation/field-schemas.js';
import { metadata } from '../http/validation/metadata.js';
import { accessControlChange } from '../http/validation/access-lists.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import { documentNotFound } from '../services/documents/document-access.js';
import type { DocumentChanges } from '../services/documents/document-changes.js';
import type { Documents } from '../services/documents/documents.js';
import { displayFilename } from '../services/ingest/filenames.js';
import { preferenceApplied, replyDocument } from './document-replies.js';
import { documentStatusView, documentView, viewDocument, viewStatus } from './document-view.js';
import { MAX_FILENAME } from './ingest.js';
import { contextOf } from './request-context.js';
import { compact, LIMITS } from './upload-fields.js';

export const documentPath = z.object({ document_id: z.string().describe('external_id of the document') });

const page = {
  skip: optionalOr(queryInteger({ ge: 0 }), 0),
  limit: optionalOr(queryInteger({ ge: 1, le: 100 }), 100),
};

const patchBody = z
  .object({
    metadata: optionalNull(metadata),
    filename: optionalNull(nonBlankString({ max: MAX_FILENAME })),
    access_control: optionalNull(accessControlChange),
  })
  .meta({ id: 'DocumentPatch' });

/** What the fields beside an upload may have, and room for the file name. */
const PATCH_BODY_BYTES = LIMITS.metadata + LIMITS.access_control + 64 * 1024;

const chunkView = z
  .object({ chunk_number: z.int().min(0), content: z.string(), token_count: z.int().min(0) })
  .meta({ id: 'Chunk' });

export interface DocumentRouteDependencies {
  readonly documents: Documents;
  readonly changes: DocumentChanges;
  /** Name of the object storage's bucket. */
  readonly bucket: string;
}

export function createDocumentRoutes(dependencies: DocumentRouteDependencies): Route[] {
  return [
    listRoute(dependencies),
    getRoute(dependencies),
    statusRoute(dependencies),
    chunksRoute(dependencies),
    patchRoute(dependencies),
    deleteRoute(dependencies),
    retryRoute(dependencies),
    cancelRoute(dependencies),
  ];
}

const reading = { method: 'get', tag: 'Documents', permission: 'read' } as const;
const changing = { tag: 'Documents', permission: 'write' } as const;

const listRoute = ({ documents, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents',
    summary: 'List documents, newest first',
    request: { query: z.object({ ...page, filters: queryFilters }) },
    responses: { 200: z.array(documentView) },
    handle: ({ caller, query: { skip, limit, filters }, signal }, reply) => {
      const listing = { callerId: caller.id, filter: filters.filter, skip, limit, signal };
      const view = (record: DocumentRecord) => viewDocument(record, bucket);
      return Promise.resolve(reply.items(documents.list(listing), view));
    },
  });

const getRoute = ({ documents, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}',
    summary: 'Get a document',
    request: { path: documentPath },
    responses: { 200: documentView, 404: errorBody },
    handle: async ({ caller, path }, reply) => {
      const record = await documents.get({ documentId: path.document_id, callerId: caller.id });
      return reply.json(200, viewDocument(record, bucket));
    },
  });

const statusRoute = ({ documents }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}/status',
    summary: 'How far the ingest of a document is',
    request: { path: documentPath },
    responses: { 200: documentStatusView, 404: errorBody },
    handle: async ({ caller, path }, reply) => {
      const record = await documents.get({ documentId: path.document_id, callerId: caller.id });
      return reply.json(200, viewStatus(record));
    },
  });

const chunksRoute = ({ documents }: DocumentRouteDependencies) =>
  defineRoute({
    ...reading,
    path: '/documents/{document_id}/chunks',
    summary: "List a document's chunks",
    request: { path: documentPath, query: z.object(page) },
    responses: { 200: z.array(chunkView), 404: errorBody },
    handle: async ({ caller, path, query, signal }, reply) => {
      const request = { documentId: path.document_id, callerId: caller.id, signal };
      return reply.items(await documents.chunks(request, query), viewChunk);
    },
  });

const viewChunk = ({ number, text, tokenCount }: StoredChunk): z.infer<typeof chunkView> => ({
  chunk_number: number,
  content: text,
  token_count: tokenCount,
});

const patchRoute = ({ changes, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'patch',
    path: '/documents/{document_id}',
    maxBodyBytes: PATCH_BODY_BYTES,
    summary: 'Change metadata, file name or access of a document',
    request: { path: documentPath, body: patchBody },
    responses: { 200: documentView, 202: documentView, 404: errorBody },
    handle: async (request, reply) => {
      const { metadata, filename, access_control } = request.body;
      const patch = {
        metadata,
        filename: displayFilename(filename) ?? undefined,
        accessControl: access_control && compact(access_control),
      };
      const { prefer } = request;
      const awaited = await changes.patch(request.path.document_id, patch, contextOf(request));
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
    summary: 'Delete a document',
    request: { path: documentPath },
    responses: { 200: z.object({ success: z.literal(true) }), 404: errorBody },
    handle: async (request, reply) => {
      await changes.remove(request.path.document_id, contextOf(request));
      return reply.json(200, { success: true });
    },
  });

const retryRoute = ({ changes, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'post',
    path: '/documents/{document_id}/retry',
    summary: 'Ingest again what failed or was cancelled',
    request: { path: documentPath },
    responses: { 200: documentView, 202: documentView, 404: errorBody },
    handle: async (request) => {
      const record = await changes.retry(request.path.document_id, contextOf(request));
      return replyDocument(record, !record || isFinal(record), { bucket, prefer: request.prefer });
    },
  });

const cancelRoute = ({ changes, bucket }: DocumentRouteDependencies) =>
  defineRoute({
    ...changing,
    method: 'post',
    path: '/documents/{document_id}/cancel',
    summary: 'Stop an ingest that is not final yet',
    request: { path: documentPath },
    responses: { 200: documentView, 404: errorBody },
    handle: async (request, reply) => {
      const record = await changes.cancel(request.path.document_id, contextOf(request));
      // What is cancelled is final, whatever it was before.
      if (!record) throw documentNotFound();
      return reply.json(200, viewDocument(record, bucket), preferenceApplied(request.prefer, true));
    },
  });
