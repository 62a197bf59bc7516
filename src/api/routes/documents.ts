import { z } from 'zod';
import { queryFilters } from '../filter-query.js';
import { errorBody } from '../responses.js';
import { defineRoute, reply, type Route } from '../route.js';
import type { StoredChunk } from '../../shared/chunk-fields.js';
import type { DocumentRecord } from '../../shared/document.js';
import type { DocumentChanges } from '../services/document-changes.js';
import {
  documentStatusView,
  documentView,
  isSettled,
  viewDocument,
  viewStatus,
} from '../services/document-view.js';
import type { Documents } from '../services/documents.js';
import { displayFilename } from '../services/filenames.js';
import { compact, LIMITS } from '../services/upload-fields.js';
import {
  accessControlChange,
  metadata,
  nonBlankString,
  optionalNull,
  optionalOr,
  queryInteger,
} from '../validation.js';
import { replyDocument } from './document-replies.js';
import { MAX_FILENAME } from './ingest.js';

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
  return [...readingRoutes(dependencies), ...changingRoutes(dependencies)];
}

function readingRoutes({ documents, bucket }: DocumentRouteDependencies): Route[] {
  const common = { method: 'get', tag: 'Documents', permission: 'read' } as const;
  return [
    defineRoute({
      ...{ ...common, path: '/documents', summary: 'List documents, newest first' },
      request: { query: z.object({ ...page, filters: queryFilters }) },
      responses: { 200: z.array(documentView) },
      handle: ({ caller, query: { skip, limit, filters }, signal }) => {
        const listing = { callerId: caller.id, filter: filters.filter, skip, limit, signal };
        const view = (record: DocumentRecord) => viewDocument(record, bucket);
        return Promise.resolve(reply.items(documents.list(listing), view));
      },
    }),
    defineRoute({
      ...{ ...common, path: '/documents/{document_id}', summary: 'Get a document' },
      request: { path: documentPath },
      responses: { 200: documentView, 404: errorBody },
      handle: async ({ caller, path }) => {
        const record = await documents.get({ documentId: path.document_id, callerId: caller.id });
        return reply.json(200, viewDocument(record, bucket));
      },
    }),
    defineRoute({
      ...{
        ...common,
        path: '/documents/{document_id}/status',
        summary: 'How far the ingest of a document is',
      },
      request: { path: documentPath },
      responses: { 200: documentStatusView, 404: errorBody },
      handle: async ({ caller, path }) => {
        const record = await documents.get({ documentId: path.document_id, callerId: caller.id });
        return reply.json(200, viewStatus(record));
      },
    }),
    defineRoute({
      ...{ ...common, path: '/documents/{document_id}/chunks', summary: "List a document's chunks" },
      request: { path: documentPath, query: z.object(page) },
      responses: { 200: z.array(chunkView), 404: errorBody },
      handle: async ({ caller, path, query, signal }) => {
        const request = { documentId: path.document_id, callerId: caller.id, signal };
        const view = ({ number, text, tokenCount }: StoredChunk) => ({
          ...{ chunk_number: number, content: text, token_count: tokenCount },
        });
        return reply.items(await documents.chunks(request, query), view);
      },
    }),
  ];
}

function changingRoutes({ changes, bucket }: DocumentRouteDependencies): Route[] {
  const common = { tag: 'Documents', permission: 'write' } as const;
  return [
    defineRoute({
      ...{ ...common, method: 'patch', path: '/documents/{document_id}' },
      maxBodyBytes: PATCH_BODY_BYTES,
      summary: 'Change metadata, file name or access of a document',
      request: { path: documentPath, body: patchBody },
      responses: { 200: documentView, 202: documentView, 404: errorBody },
      handle: async (request) => {
        const { metadata, filename, access_control } = request.body;
        const patch = {
          metadata,
          filename: displayFilename(filename) ?? undefined,
          accessControl: access_control && compact(access_control),
        };
        const { prefer } = request;
        const settling = await changes.patch(request.path.document_id, patch, request);
        return reply.pending(settling, (record) =>
          replyDocument(record, record?.retag === 0, { bucket, prefer }),
        );
      },
    }),
    defineRoute({
      ...{ ...common, method: 'delete', path: '/documents/{document_id}', summary: 'Delete a document' },
      request: { path: documentPath },
      responses: { 200: z.object({ success: z.literal(true) }), 404: errorBody },
      handle: async (request) => {
        await changes.remove(request.path.document_id, request);
        return reply.json(200, { success: true });
      },
    }),
    defineRoute({
      ...{ ...common, method: 'post', path: '/documents/{document_id}/retry' },
      summary: 'Ingest again what failed or was cancelled',
      request: { path: documentPath },
      responses: { 200: documentView, 202: documentView, 404: errorBody },
      handle: async (request) => {
        const record = await changes.retry(request.path.document_id, request);
        return replyDocument(record, !record || isSettled(record), { bucket, prefer: request.prefer });
      },
    }),
    defineRoute({
      ...{ ...common, method: 'post', path: '/documents/{document_id}/cancel' },
      summary: 'Stop an ingest that is not final yet',
      request: { path: documentPath },
      responses: { 200: documentView, 404: errorBody },
      handle: async (request) => {
        const record = await changes.cancel(request.path.document_id, request);
        return replyDocument(record, !record || isSettled(record), { bucket, prefer: request.prefer });
      },
    }),
  ];
}
