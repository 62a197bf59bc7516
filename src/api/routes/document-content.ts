import { z } from 'zod';
import { noteUser } from '../../shared/audit/notes.js';
import { chunkingSchema } from '../../shared/chunking.js';
import { isFinal, displayFilename, MAX_FILENAME_CHARACTERS } from '../../shared/document.js';
import { HIGHLIGHT, parseHighlight } from '../../shared/page-pictures/highlight.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import { nonBlankString, optionalNull, queryInteger } from '../http/validation/field-schemas.js';
import { addItem } from '../http/validation/validation-errors.js';
import type { DownloadLinks, OpenDownload } from '../services/documents/downloads.js';
import type { ReadPage } from '../services/documents/read-page.js';
import type { Admit } from '../services/ingest/admission/admission.js';
import type { ContentUpdates } from '../services/ingest/content-updates.js';
import { replyDocument, replyIngest } from './document-view.js';
import { documentPath } from './documents.js';
import {
  putContentExamples,
  downloadExamples,
  signedDownloadExamples,
  pageExamples,
} from './examples/documents.js';
import { ingestResponses } from './ingest/ingest.js';
import { OCR_DESCRIPTION, ocrMode, receiveFile } from './ingest/upload-fields.js';

const contentBody = z
  .object({
    content: nonBlankString().describe('The text.'),
    filename: optionalNull(nonBlankString({ max: MAX_FILENAME_CHARACTERS })).describe(
      'A new name. Without one, the old name stays.',
    ),
    ocr: optionalNull(ocrMode).describe(OCR_DESCRIPTION),
    chunking: optionalNull(chunkingSchema),
  })
  .meta({ id: 'DocumentContent', description: 'A text that replaces the content of a document.' });

const contentFields = z
  .object({
    file: z.string().meta({ format: 'binary', description: 'The file, with its name.' }),
    ocr: ocrMode.optional().meta({
      description:
        'Which pages and pictures are read by text recognition, as for `/ingest/file`. Default: what was stated for the ' +
        'content before. The same file with another mode is read anew.',
    }),
    chunking: z
      .string()
      .optional()
      .meta({
        description:
          'How the text is cut into chunks, as for `/ingest/file`. Default: what was stated for the content before; `{}` is ' +
          'what the service is set to. The same file cut in another way is read anew.',
      }),
  })
  .meta({ id: 'DocumentFile', description: 'A file that replaces the content of a document.' });

export interface ContentRouteDependencies {
  readonly contentUpdates: ContentUpdates;
  readonly admit: Admit;
  /** The name of the bucket in the object storage. */
  readonly bucket: string;
}

export function createContentRoutes({ contentUpdates, admit, bucket }: ContentRouteDependencies): Route[] {
  return [
    defineRoute({
      method: 'put',
      path: '/documents/{document_id}/content',
      audit: 'document.replace',
      tag: 'Documents',
      permission: 'write',
      summary: 'Replace the content of a document by a text or a file',
      description:
        'Searches find the old version until the new one is ready. Content that is the same as before changes nothing.',
      request: { path: documentPath, body: contentBody },
      admit,
      upload: { fields: contentFields, alsoJson: true },
      responses: { ...ingestResponses, 412: errorBody },
      examples: putContentExamples,
      handle: async (request, reply) => {
        const { path, receiveUpload, prefer } = request;
        const asked = request.context;
        const { changed, ...awaited } = receiveUpload
          ? await contentUpdates.putFile(path.document_id, receiveFile(receiveUpload), asked)
          : await contentUpdates.putText(path.document_id, textOf(request.body), asked);
        const context = { bucket, prefer };
        return reply.pending(awaited, (record) => {
          const isUnchanged = !changed && record !== null && isFinal(record);
          return isUnchanged ? replyDocument(record, true, context) : replyIngest(record, context);
        });
      },
    }),
  ];
}

const textOf = ({ content, filename, chunking }: z.infer<typeof contentBody>) => ({
  content,
  chunking,
  filename: displayFilename(filename) ?? undefined,
});

const ticket = z.object({
  caller: z.string().default('').describe('The user on whose behalf the address was made.'),
  expires: z.string().default('').describe('When the address expires, in seconds since 1970.'),
  signature: z.string().default('').describe('The signature of the service over the rest of the address.'),
});

interface DownloadRouteDependencies {
  readonly openDownload: OpenDownload;
  readonly links: DownloadLinks;
}

const download = {
  method: 'get',
  tag: 'Documents',
  responses: { 200: 'download', 403: errorBody, 404: errorBody },
} as const;

export const createDownloadRoutes = ({ openDownload, links }: DownloadRouteDependencies): Route[] => [
  readerRoute(openDownload),
  linkRoute(openDownload, links),
];

const readerRoute = (openDownload: OpenDownload) =>
  defineRoute({
    ...download,
    path: '/documents/{document_id}/download',
    audit: 'document.download',
    permission: 'read',
    summary: 'Download the source of a document',
    description:
      'Returns the bytes that were ingested, with their content type and file name. The answer is also 404 when the ' +
      'object storage has lost them.',
    request: { path: documentPath },
    examples: downloadExamples,
    handle: async ({ caller, path, signal }) => ({
      type: 'download',
      ...(await openDownload({ documentId: path.document_id, principal: caller.principal, signal })),
    }),
  });

const linkRoute = (openDownload: OpenDownload, links: DownloadLinks) =>
  defineRoute({
    ...download,
    path: '/downloads/{document_id}',
    audit: 'document.open_link',
    permission: 'open',
    summary: 'Download the source of a document by a signed address',
    description:
      'Searches return such addresses as `download_url`. They expire, and they need no other proof. The answer is ' +
      'also 404 when the object storage has lost the source.',
    request: { path: documentPath, query: ticket },
    examples: signedDownloadExamples,
    handle: async ({ path, query, signal }) => {
      const opened = links.verify(path.document_id, query);
      noteUser(opened.principal.id);
      return { type: 'download', ...(await openDownload({ ...opened, signal })) };
    },
  });

/** More than any file has. */
const MAX_NUMBER = 10_000_000;

const pagePath = documentPath.extend({
  page: queryInteger({ ge: 1, le: MAX_NUMBER }).describe('The number of the page, from 1.'),
});

const highlightField = z
  .string()
  .transform((text, context) => {
    const highlight = parseHighlight(text);
    if (highlight) return highlight;
    const msg = 'string is neither the number of a chunk (7) nor a part of its text (7:120-180)';
    addItem(context, { loc: [], msg, type: 'value_error.highlight' });
    return z.NEVER;
  })
  .meta({ pattern: HIGHLIGHT.source });

const pageQuery = z.object({
  highlight: highlightField
    .optional()
    .describe(
      'The passage that is marked, where it stands on this page: the number of a chunk (`7`), or a part of its text as the ' +
        'quotes of an answer name it (`7:120-180`).',
    ),
});

/** A page is seen by its reader alone, and by nobody who may no longer read it. */
const PAGE_HEADERS = { 'Cache-Control': 'private, no-cache' };

interface PageRouteDependencies {
  readonly readPage: ReadPage;
}

export function createPageRoutes({ readPage }: PageRouteDependencies): Route[] {
  return [
    defineRoute({
      method: 'get',
      tag: 'Documents',
      path: '/documents/{document_id}/pages/{page}.png',
      audit: 'document.page',
      permission: 'read',
      summary: 'Show a page of a document',
      description:
        'Renders a page of the published version of a PDF file or a picture, with the passage of a chunk marked if ' +
        '`highlight` names one. Answers 404 where the document has no such page or chunk, has no pages, or the page ' +
        'cannot be rendered, 409 while nothing is published, 429 while too many pages of the caller wait to be ' +
        'rendered, and 503 while too many of all do, when it is not rendered in time, or gives way to others who wait. ' +
        'A page that takes too long to render is answered 404 for a minute, and for up to an hour if it does so again.',
      request: { path: pagePath, query: pageQuery },
      responses: { 200: 'png', 404: errorBody, 409: errorBody },
      examples: pageExamples,
      handle: async ({ caller, path, query, requestId, signal }) => ({
        type: 'download',
        contentType: 'image/png',
        isInline: true,
        headers: PAGE_HEADERS,
        ...(await readPage({
          documentId: path.document_id,
          principal: caller.principal,
          page: path.page,
          highlight: query.highlight ?? null,
          requestId,
          signal,
        })),
      }),
    }),
  ];
}
