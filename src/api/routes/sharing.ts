import { z } from 'zod';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import { documentNotFound } from '../services/documents/document-access.js';
import type { Membership } from '../services/sharing/membership.js';
import { contextOf } from './context-of.js';
import { preferenceApplied } from './document-replies.js';
import { documentPath } from './documents.js';
import { acceptDocumentExamples, leaveDocumentExamples } from './examples/sharing.js';

export interface SharingRouteDependencies {
  readonly membership: Membership;
}

export function createSharingRoutes(dependencies: SharingRouteDependencies): Route[] {
  return [leaveRoute(dependencies), acceptRoute(dependencies)];
}

const done = z.object({ success: z.literal(true) });
/** What readers do with what others share with them changes nothing of it, so that they need no right to write. */
const common = { tag: 'Sharing', permission: 'read' } as const;

const leaveRoute = ({ membership }: SharingRouteDependencies) =>
  defineRoute({
    ...common,
    method: 'post',
    path: '/documents/{document_id}/leave',
    summary: 'Leave a document that somebody else shares',
    description:
      'Takes the caller out of `access_control`, also of the documents that were made of its attachments. From this moment on ' +
      'the caller finds and reads nothing of it, whatever its admins write into the lists, until the caller accepts it again. ' +
      'The owner cannot leave (409), nor can the only admin.',
    request: { path: documentPath },
    responses: { 200: done, 404: errorBody, 409: errorBody },
    examples: leaveDocumentExamples,
    handle: async (request, reply) => {
      await membership.leave(request.path.document_id, contextOf(request));
      return reply.json(200, { success: true });
    },
  });

const acceptRoute = ({ membership }: SharingRouteDependencies) =>
  defineRoute({
    ...common,
    method: 'post',
    path: '/documents/{document_id}/accept',
    summary: 'Accept a document that somebody else shares',
    description:
      'A caller who has left the document gets what its lists would give them by now. Answers 200 when searches see it, and ' +
      '202 when that takes too long.',
    request: { path: documentPath },
    responses: { 200: done, 202: done, 404: errorBody },
    examples: acceptDocumentExamples,
    handle: async (request, reply) => {
      const { prefer } = request;
      const awaited = await membership.comeBack(request.path.document_id, contextOf(request));
      return reply.pending(awaited, (record) => {
        if (!record) throw documentNotFound();
        const isDone = record.retag === 0;
        const headers = preferenceApplied(prefer, isDone);
        const location = { Location: `/documents/${record.id}/status` };
        const body = { success: true } as const;
        return isDone
          ? { type: 'json', status: 200, body, headers }
          : { type: 'json', status: 202, body, headers: { ...headers, ...location } };
      });
    },
  });
