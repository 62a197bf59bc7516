import { z } from 'zod';
import { shownContent, DOCUMENT_STATUSES, type DocumentRecord } from '../../../shared/document.js';
import { noteDocuments } from '../../../shared/audit/notes.js';
import { HttpError } from '../../http/http-error.js';
import { optionalNull } from '../../http/validation/field-schemas.js';
import { listDigest, readCursor, writeCursor } from '../../http/validation/paging.js';
import type { RequestFilter } from '../../http/validation/search-fields.js';
import type { Documents } from '../../services/documents/read-documents.js';
import { viewUrlOf } from '../../services/retrieval/sources.js';
import { documentTitle } from './passages.js';
import { filters } from './search.js';
import { defineTool, type McpRequest } from './tool.js';

/** The documents of a page. */
const MAX_LISTED = 50;
const NEWEST_FIRST = { by: 'created', isDescending: true } as const;

const listed = z.object({
  id: z.string().describe('The id to fetch its text.'),
  title: z.string(),
  url: z.string(),
  content_type: z.string(),
  status: z.enum(DOCUMENT_STATUSES).describe('Only a document that is `completed` is found.'),
  created_at: z.string(),
  updated_at: z.string(),
  metadata: z.record(z.string(), z.unknown()),
});

export const createListDocumentsTool = (documents: Documents) =>
  defineTool({
    name: 'list_documents',
    title: 'List documents',
    description: `Lists the documents in Quire, newest first, ${String(MAX_LISTED)} at a time. To find what they say, search.`,
    permission: 'read',
    action: 'document.list',
    input: z.object({
      filters,
      cursor: optionalNull(z.string()).describe(
        'The `next_cursor` of the page before, with the same filters.',
      ),
    }),
    output: z.object({
      documents: z.array(listed),
      next_cursor: z.string().nullable().describe('Where the list goes on; null at its end.'),
    }),
    run: async ({ filters: { filter, json }, cursor }, request) => {
      const { records, next } = await listNewest(documents, { filter, json, cursor }, request);
      return { documents: records.map((record) => viewListed(record, request)), next_cursor: next };
    },
  });

interface Listing extends RequestFilter {
  readonly cursor: string | undefined;
}

/** Lists a page of the documents that the caller may read. @throws HttpError 422 for a cursor of another list */
export async function listNewest(
  documents: Documents,
  { filter, json, cursor }: Listing,
  { caller: { principal }, signal }: McpRequest,
): Promise<{ readonly records: readonly DocumentRecord[]; readonly next: string | null }> {
  const digest = listDigest(['mcp', json]);
  const place = cursor === undefined ? null : readCursor(cursor);
  if (cursor !== undefined && place?.digest !== digest) throw wrongCursor();
  const page = { skip: 0, limit: MAX_LISTED, order: NEWEST_FIRST, after: place?.position ?? null };
  const { records, next } = await documents.list({ ...page, filter, principal, signal });
  const read: DocumentRecord[] = [];
  for await (const record of records) read.push(record);
  noteDocuments(read.map(({ id }) => id));
  return { records: read, next: next && writeCursor({ order: NEWEST_FIRST, position: next, digest }) };
}

const wrongCursor = () =>
  new HttpError(422, [
    { loc: ['body', 'cursor'], msg: 'value is not a cursor of this list', type: 'value_error.cursor' },
  ]);

function viewListed(record: DocumentRecord, { baseUrl }: McpRequest): z.infer<typeof listed> {
  return {
    id: record.id,
    title: documentTitle(record),
    url: viewUrlOf({ documentId: record.id }, { baseUrl }),
    content_type: shownContent(record).contentType,
    status: record.status,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
    metadata: record.metadata,
  };
}
