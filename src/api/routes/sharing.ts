import { z } from 'zod';
import { SHARED } from '../../shared/access/sharing.js';
import { noteUser } from '../../shared/audit/notes.js';
import { preferenceApplied } from '../http/request/headers.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import { userId } from '../http/validation/document-fields.js';
import { documentNotFound } from '../services/documents/document-access.js';
import type { CallerLists, CallerView } from '../services/sharing/caller-lists.js';
import type { Membership } from '../services/sharing/membership.js';
import { documentPath } from './documents.js';
import { LEASE_ID } from './examples/story.js';

export interface SharingRouteDependencies {
  readonly membership: Membership;
  readonly lists: CallerLists;
}

export function createSharingRoutes(dependencies: SharingRouteDependencies): Route[] {
  return [
    leaveRoute(dependencies),
    acceptRoute(dependencies),
    readRoute(dependencies),
    ...LISTS.flatMap((list) => [putRoute(dependencies, list), deleteRoute(dependencies, list)]),
  ];
}

const sharingView = z
  .object({
    shared: z
      .enum(SHARED)
      .describe('The documents of others that are found where a request does not say it.'),
    blocked_owners: z.array(z.string()).describe('Nothing of theirs is found.'),
    accepted_owners: z.array(z.string()).describe('All of theirs is accepted.'),
    accepted_documents: z.array(z.string()).describe('Documents of others that are accepted.'),
  })
  .meta({
    id: 'Sharing',
    description: 'The choices of the caller about documents that others share with them.',
  });

const viewSharing = (view: CallerView): z.infer<typeof sharingView> => ({
  shared: view.standard,
  blocked_owners: [...view.blockedOwners],
  accepted_owners: [...view.acceptedOwners],
  accepted_documents: [...view.acceptedDocuments],
});

const ownerPath = z.object({ owner: userId.describe('Who shares documents, as their `owner` says.') });

/** The lists of owners, and the effects of putting an owner into them and of taking them out. */
const LISTS = [
  {
    name: 'blocked',
    put: 'Block an owner',
    putDescription:
      'Searches, answers, lists and caches of the caller have nothing more of what the owner shares, from this moment on and ' +
      'whatever the request says. The owner is no longer among the accepted ones, and is not told.',
    add: 'blockOwner',
    putAction: 'sharing.block',
    delete: 'Unblock an owner',
    remove: 'unblockOwner',
    removeAction: 'sharing.unblock',
  },
  {
    name: 'accepted',
    put: 'Accept all that an owner shares',
    putDescription:
      'Documents that the owner shares, now or later, are found where the caller finds only accepted ones. The owner is no longer ' +
      'among the blocked ones.',
    add: 'acceptOwner',
    putAction: 'sharing.accept',
    delete: 'Accept what an owner shares no longer',
    remove: 'forgetOwner',
    removeAction: 'sharing.forget',
  },
] as const;
type OwnerList = (typeof LISTS)[number];

const readRoute = ({ lists }: SharingRouteDependencies) =>
  defineRoute({
    ...common,
    method: 'get',
    path: '/sharing',
    audit: 'sharing.read',
    summary: 'Get what you have said of documents of others',
    description:
      'The owners whom the caller has blocked, and the owners and documents that the caller has accepted.',
    request: {},
    responses: { 200: sharingView },
    examples: sharingExamples,
    handle: async ({ caller }, reply) => reply.json(200, viewSharing(await lists.read(caller.id))),
  });

const putRoute = ({ lists }: SharingRouteDependencies, list: OwnerList) =>
  defineRoute({
    ...common,
    method: 'put',
    path: `/sharing/${list.name}/{owner}`,
    audit: list.putAction,
    summary: list.put,
    description: `${list.putDescription} A list has at most 1,000 entries (422).`,
    request: { path: ownerPath },
    responses: { 200: sharingView, 409: errorBody },
    examples: listOwnerExamples[list.name],
    handle: async ({ caller, path }, reply) => {
      noteUser(path.owner);
      return reply.json(200, viewSharing(await lists[list.add](caller.id, path.owner)));
    },
  });

const deleteRoute = ({ lists }: SharingRouteDependencies, list: OwnerList) =>
  defineRoute({
    ...common,
    method: 'delete',
    path: `/sharing/${list.name}/{owner}`,
    audit: list.removeAction,
    summary: list.delete,
    description: 'An owner who is not in the list changes nothing.',
    request: { path: ownerPath },
    responses: { 200: sharingView },
    examples: unlistOwnerExamples[list.name],
    handle: async ({ caller, path }, reply) => {
      noteUser(path.owner);
      return reply.json(200, viewSharing(await lists[list.remove](caller.id, path.owner)));
    },
  });

const done = z.object({ success: z.literal(true) });
/**
 * Readers' choices about documents that others share with them change nothing of these, so that they need no right to
 * write.
 */
const common = { tag: 'Sharing', permission: 'read' } as const;

const leaveRoute = ({ membership }: SharingRouteDependencies) =>
  defineRoute({
    ...common,
    method: 'post',
    path: '/documents/{document_id}/leave',
    audit: 'document.leave',
    summary: 'Leave a document that somebody else shares',
    description:
      'Takes the caller out of `access_control`, also of the documents that were made of its attachments. From this moment on ' +
      'the caller finds and reads nothing of it, whatever its admins write into the lists, until the caller accepts it again. ' +
      'The owner cannot leave (409), nor can the only admin.',
    request: { path: documentPath },
    responses: { 200: done, 404: errorBody, 409: errorBody },
    examples: leaveDocumentExamples,
    handle: async (request, reply) => {
      await membership.leave(request.path.document_id, request.context);
      return reply.json(200, { success: true });
    },
  });

const acceptRoute = ({ membership }: SharingRouteDependencies) =>
  defineRoute({
    ...common,
    method: 'post',
    path: '/documents/{document_id}/accept',
    audit: 'document.accept',
    summary: 'Accept a document that somebody else shares',
    description:
      'It is found where the caller finds only what is accepted. A caller who has left it gets what its lists would give them ' +
      'by now: answers 200 when searches see it, and 202 when that takes too long. At most 1,000 documents are accepted one by ' +
      'one (422).',
    request: { path: documentPath },
    responses: { 200: done, 202: done, 404: errorBody },
    examples: acceptDocumentExamples,
    handle: async (request, reply) => {
      const { prefer } = request;
      const awaited = await membership.accept(request.path.document_id, request.context);
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

const ofLease = { document_id: LEASE_ID };
const success = { success: true as const };
const unknownDocument = { detail: 'Document not found' };

const leaveDocumentExamples = {
  path: ofLease,
  responses: {
    200: success,
    404: unknownDocument,
    409: { detail: 'The owner of a document cannot leave it. The owner can delete it' },
  },
};

const acceptDocumentExamples = {
  path: ofLease,
  responses: { 200: success, 202: success, 404: unknownDocument },
};

const noLists = { shared: 'all' as const, blocked_owners: [], accepted_owners: [], accepted_documents: [] };
const ownRefusal = { detail: 'What is your own is always found' };

const sharingExamples = { responses: { 200: noLists } };

const listOwnerExamples = {
  blocked: {
    path: { owner: 'mallory' },
    responses: { 200: { ...noLists, blocked_owners: ['mallory'] }, 409: ownRefusal },
  },
  accepted: {
    path: { owner: 'bob' },
    responses: { 200: { ...noLists, accepted_owners: ['bob'] }, 409: ownRefusal },
  },
};

const unlistOwnerExamples = {
  blocked: { path: { owner: 'mallory' }, responses: { 200: noLists } },
  accepted: { path: { owner: 'bob' }, responses: { 200: noLists } },
};
