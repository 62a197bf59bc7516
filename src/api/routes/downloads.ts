import { z } from 'zod';
import { noteUser } from '../../shared/audit/notes.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import type { DownloadLinks, OpenDownload } from '../services/documents/downloads.js';
import { documentPath } from './documents.js';
import { downloadExamples, signedDownloadExamples } from './examples/documents.js';

const ticket = z.object({
  caller: z.string().default('').describe('The user on whose behalf the address was made.'),
  expires: z.string().default('').describe('When the address expires, in seconds since 1970.'),
  signature: z.string().default('').describe('The signature of the service over the rest of the address.'),
});

export interface DownloadRouteDependencies {
  readonly openDownload: OpenDownload;
  readonly links: DownloadLinks;
}

const common = {
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
    ...common,
    path: '/documents/{document_id}/download',
    audit: 'document.download',
    permission: 'read',
    summary: 'Download the source of a document',
    description:
      'Returns the bytes that were ingested, with their content type and file name. The answer is also 404 when the ' +
      'object storage has lost them.',
    request: { path: documentPath },
    examples: downloadExamples,
    handle: async ({ caller, path }) => ({
      type: 'download',
      ...(await openDownload({ documentId: path.document_id, callerId: caller.id })),
    }),
  });

const linkRoute = (openDownload: OpenDownload, links: DownloadLinks) =>
  defineRoute({
    ...common,
    path: '/downloads/{document_id}',
    audit: 'document.open_link',
    permission: 'open',
    summary: 'Download the source of a document by a signed address',
    description:
      'Searches return such addresses as `download_url`. They expire, and they need no other proof. The answer is ' +
      'also 404 when the object storage has lost the source.',
    request: { path: documentPath, query: ticket },
    examples: signedDownloadExamples,
    handle: async ({ path, query }) => {
      const opened = links.verify(path.document_id, query);
      noteUser(opened.callerId);
      return { type: 'download', ...(await openDownload(opened)) };
    },
  });
