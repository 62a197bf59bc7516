import { z } from 'zod';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import { queryInteger } from '../http/validation/field-schemas.js';
import type { ReadPage } from '../services/documents/read-page.js';
import { documentPath } from './documents.js';
import { pageExamples } from './examples/documents.js';

/** More than any file has. */
const MAX = 10_000_000;

const pagePath = documentPath.extend({
  page: queryInteger({ ge: 1, le: MAX }).describe('The number of the page, from 1.'),
});

const pageQuery = z.object({
  highlight: queryInteger({ ge: 0, le: MAX })
    .optional()
    .describe('The number of the chunk whose passage is marked, where it stands on this page.'),
});

/** A page is seen by its reader alone, and by nobody who may no longer read it. */
const HEADERS = { 'Cache-Control': 'private, no-cache' };

export interface PageRouteDependencies {
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
        'A page that takes too long to render is answered 404 for an hour.',
      request: { path: pagePath, query: pageQuery },
      responses: { 200: 'png', 404: errorBody, 409: errorBody },
      examples: pageExamples,
      handle: async ({ caller, path, query, requestId, signal }) => ({
        type: 'download',
        contentType: 'image/png',
        isInline: true,
        headers: HEADERS,
        ...(await readPage({
          documentId: path.document_id,
          callerId: caller.id,
          page: path.page,
          highlight: query.highlight ?? null,
          requestId,
          signal,
        })),
      }),
    }),
  ];
}
