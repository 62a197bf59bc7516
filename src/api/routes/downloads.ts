import { z } from 'zod';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import type { DownloadLinks, OpenDownload } from '../services/documents/downloads.js';
import { documentPath } from './documents.js';

const ticket = z.object({
  caller: z.string().default(''),
  expires: z.string().default(''),
  signature: z.string().default(''),
});

export interface DownloadRouteDependencies {
  readonly openDownload: OpenDownload;
  readonly links: DownloadLinks;
}

export function createDownloadRoutes({ openDownload, links }: DownloadRouteDependencies): Route[] {
  const common = {
    method: 'get',
    tag: 'Documents',
    responses: { 200: 'download', 403: errorBody, 404: errorBody },
  } as const;
  return [
    defineRoute({
      ...common,
      path: '/documents/{document_id}/download',
      permission: 'read',
      summary: 'Download the source of a document; 404 also when storage has lost it',
      request: { path: documentPath },
      handle: async ({ caller, path }) => ({
        type: 'download',
        ...(await openDownload({ documentId: path.document_id, callerId: caller.id })),
      }),
    }),
    defineRoute({
      ...common,
      path: '/downloads/{document_id}',
      permission: 'open',
      summary:
        'Download by a signed address, as searches return it; 404 also when storage has lost the source',
      request: { path: documentPath, query: ticket },
      handle: async ({ path, query }) => ({
        type: 'download',
        ...(await openDownload(links.verify(path.document_id, query))),
      }),
    }),
  ];
}
