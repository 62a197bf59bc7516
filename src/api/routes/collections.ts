import { z } from 'zod';
import { MAX_OWN_COLLECTIONS } from '../../shared/collections/collection-store.js';
import { preferenceApplied } from '../http/request/headers.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type Route } from '../http/route.js';
import { metadata, statedLists, userId } from '../http/validation/document-fields.js';
import {
  jsonInteger,
  list,
  nonBlankString,
  optionalNull,
  optionalNullOr,
} from '../http/validation/field-schemas.js';
import { collectionPage, writePlace } from '../http/validation/paging.js';
import { storedFilter } from '../http/validation/search-fields.js';
import type { CollectionDocuments } from '../services/collections/collection-documents.js';
import type { CollectionPatch, Collections } from '../services/collections/collections.js';
import { documentNotFound } from '../services/documents/document-access.js';
import type { RequireRoom } from '../services/ingest/admission/require-room.js';
import type { AwaitedDocument } from '../services/ingest/waits.js';
import { collectionView, memberOutcome, viewCollection, viewOutcome } from './collection-view.js';
import {
  changeMembersExamples,
  createCollectionExamples,
  deleteCollectionExamples,
  getCollectionExamples,
  listCollectionsExamples,
  patchCollectionExamples,
  putMemberExamples,
  takeMemberExamples,
} from './examples/collections.js';

export interface CollectionRouteDependencies {
  readonly collections: Collections;
  readonly collectionDocuments: CollectionDocuments;
  readonly room: RequireRoom;
}

export function createCollectionRoutes(dependencies: CollectionRouteDependencies): Route[] {
  return [
    createRoute(dependencies),
    listRoute(dependencies),
    getRoute(dependencies),
    patchRoute(dependencies),
    deleteRoute(dependencies),
    membersRoute(dependencies),
    putRoute(dependencies),
    takeRoute(dependencies),
  ];
}

const tag = 'Collections';

/** The most users of each list. Each of them has an entry for each collection, by which it is listed. */
const MAX_USERS = 100;
const MAX_NAME = 256;
const MAX_DESCRIPTION = 1_024;
const MAX_EXPIRY_DAYS = 365;
/** The most documents that one request puts in or takes out. */
const MAX_MEMBERS = 1_000;

const users = optionalNull(list(userId, { max: MAX_USERS }));
const admins = optionalNull(list(userId, { min: 1, max: MAX_USERS }));
const name = nonBlankString({ max: MAX_NAME });
const description = nonBlankString({ max: MAX_DESCRIPTION });
const expiresAfter = z.object({
  anchor: z.literal('last_active_at').describe('The time is counted from the last use.'),
  days: jsonInteger({ ge: 1, le: MAX_EXPIRY_DAYS }).describe('How many days without use.'),
});

const FILTER_DESCRIPTION = 'Of the documents that were put in, only those that match are found.';
const EXPIRY_DESCRIPTION = 'Deletes the collection when it was not used for so long. Its documents stay.';
const ACCESS_DESCRIPTION =
  'Who may search within the collection (readers), change it and put documents in (writers), and change these lists (admins). ' +
  'It gives no right to any document.';

const createBody = z
  .object({
    name: name.describe('Any name; it need not be the only one.'),
    description: optionalNull(description).describe('What is in it.'),
    metadata: optionalNullOr(metadata, {}).describe('Any JSON object.'),
    filter: storedFilter.describe(FILTER_DESCRIPTION),
    access_control: optionalNull(z.object({ readers: users, writers: users, admins: users })).describe(
      `${ACCESS_DESCRIPTION} You are added to each list.`,
    ),
    expires_after: optionalNull(expiresAfter).describe(EXPIRY_DESCRIPTION),
  })
  .meta({ id: 'NewCollection', description: 'A collection to make.' });

const patchBody = z
  .object({
    name: optionalNull(name),
    description: description
      .nullish()
      .transform((text) => text)
      .describe('Null takes it away.'),
    metadata: optionalNull(metadata).describe('Replaces all of the metadata.'),
    filter: storedFilter.describe(`${FILTER_DESCRIPTION} Null takes it away.`),
    access_control: optionalNull(z.object({ readers: users, writers: users, admins })).describe(
      'Each list that is stated replaces the old one. Only admins of the collection may change them.',
    ),
    expires_after: expiresAfter
      .nullish()
      .transform((after) => after)
      .describe(`${EXPIRY_DESCRIPTION} Null takes it away.`),
  })
  .meta({ id: 'CollectionPatch', description: 'The changes. Fields that are left out stay as they are.' });

const collectionPath = z.object({ collection_id: z.string().describe('The `id` of the collection.') });
const memberPath = collectionPath.extend({
  document_id: z.string().describe('The `external_id` of the document.'),
});

const admitTo = (room: RequireRoom) => async () => {
  await room.forGrowth('collections');
  return undefined;
};

const createRoute = ({ collections, room }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'post',
    permission: 'write',
    path: '/collections',
    audit: 'collection.create',
    admit: admitTo(room),
    summary: 'Make a collection',
    description: `A collection is a saved scope for searches and questions. You may have ${MAX_OWN_COLLECTIONS.toLocaleString('en')} (409).`,
    request: { body: createBody },
    responses: { 200: collectionView, 404: errorBody, 409: errorBody },
    examples: createCollectionExamples,
    idempotency: {
      answerAgain: async ({ caller }, id, reply) =>
        reply.json(200, viewCollection(await collections.get(id, caller.principal))),
    },
    handle: async ({ body, context }, reply) => {
      const made = {
        name: body.name,
        description: body.description ?? null,
        metadata: body.metadata,
        filter: body.filter ?? null,
        accessControl: statedLists(body.access_control ?? {}),
        expiresAfterDays: body.expires_after?.days ?? null,
      };
      return reply.json(200, viewCollection(await collections.create(made, context)));
    },
  });

const listRoute = ({ collections }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'get',
    permission: 'read',
    path: '/collections',
    audit: 'collection.list',
    summary: 'List collections, newest first',
    description:
      'Lists the collections that you may read. Where more follow, the header `Link` holds the address of the next page ' +
      '(`rel="next"`). A page may be shorter than `limit`: collections of owners whom you have blocked are left out.',
    request: { query: collectionPage },
    responses: { 200: z.array(collectionView) },
    examples: listCollectionsExamples,
    handle: async ({ caller, query, baseUrl }, reply) => {
      const { cursor, limit, order } = query;
      const { records, next } = await collections.list({
        principal: caller.principal,
        after: cursor ?? null,
        limit,
        isDescending: order === 'desc',
      });
      if (next === null) return reply.items(records, viewCollection);
      const more = new URLSearchParams({ limit: String(limit), order, cursor: writePlace(next) });
      const headers = { Link: `<${baseUrl}/collections?${more.toString()}>; rel="next"` };
      return reply.items(records, viewCollection, headers);
    },
  });

const getRoute = ({ collections }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'get',
    permission: 'read',
    path: '/collections/{collection_id}',
    audit: 'collection.read',
    summary: 'Get a collection',
    description:
      'A collection that you may not read is the same 404 as one that is not there. `GET /documents?collection=` lists its documents.',
    request: { path: collectionPath },
    responses: { 200: collectionView, 404: errorBody },
    examples: getCollectionExamples,
    handle: async ({ caller, path }, reply) =>
      reply.json(200, viewCollection(await collections.get(path.collection_id, caller.principal))),
  });

const patchRoute = ({ collections }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'patch',
    permission: 'write',
    path: '/collections/{collection_id}',
    audit: 'collection.change',
    summary: 'Change a collection',
    description: 'Takes effect with its answer. Clients that change different fields at once lose no change.',
    request: { path: collectionPath, body: patchBody },
    responses: { 200: collectionView, 404: errorBody, 409: errorBody },
    examples: patchCollectionExamples,
    handle: async ({ path, body, context }, reply) => {
      const { access_control, expires_after, ...fields } = body;
      const patch: CollectionPatch = {
        ...fields,
        accessControl: access_control && statedLists(access_control),
        expiresAfterDays: expires_after === null ? null : expires_after?.days,
      };
      return reply.json(200, viewCollection(await collections.change(path.collection_id, patch, context)));
    },
  });

const removal = z
  .object({
    success: z.boolean().describe('False where documents are left: send the request again.'),
    documents_deleted: z.int().min(0).describe('How many documents this request has deleted.'),
  })
  .meta({ id: 'CollectionRemoval', description: 'What became of a collection and its documents.' });

const deleteRoute = ({ collections, collectionDocuments }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'delete',
    permission: 'write',
    path: '/collections/{collection_id}',
    audit: 'collection.delete',
    summary: 'Delete a collection',
    description:
      'Its documents stay. With `documents=delete`, those that you may delete are deleted first, whatever other collections they are ' +
      'in: where that takes longer than the request waits (`Prefer: wait=N`), it answers 202, and the same request goes on with it.',
    request: {
      path: collectionPath,
      query: z.object({
        documents: z
          .enum(['keep', 'delete'])
          .optional()
          .describe('`delete` for its documents as well. Default: `keep`.'),
      }),
    },
    responses: { 200: removal, 202: removal, 404: errorBody },
    examples: deleteCollectionExamples,
    handle: async ({ path, query, caller, context, prefer }, reply) => {
      const id = path.collection_id;
      const { deleted, isWhole } =
        query.documents === 'delete'
          ? await collectionDocuments.removeDocuments(id, context)
          : { deleted: 0, isWhole: true };
      const headers = preferenceApplied(prefer, isWhole);
      const body = { success: isWhole, documents_deleted: deleted };
      if (!isWhole) return reply.json(202, body, headers);
      await collections.remove(id, caller.principal);
      return reply.json(200, body, headers);
    },
  });

const documentIds = optionalNullOr(list(z.string(), { max: MAX_MEMBERS }), []);
const membersBody = z
  .object({
    add: documentIds.describe('The documents to put in.'),
    remove: documentIds.describe('The documents to take out.'),
  })
  .check((context) => {
    const { add, remove } = context.value;
    if (add.length + remove.length <= MAX_MEMBERS) return;
    context.issues.push({
      code: 'too_big',
      origin: 'array',
      maximum: MAX_MEMBERS,
      inclusive: true,
      input: add,
      path: ['add'],
    });
  })
  .meta({
    id: 'CollectionMembers',
    description: `Ids of documents to put in and to take out, ${MAX_MEMBERS.toLocaleString('en')} together.`,
  });

const membersRoute = ({ collectionDocuments }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'post',
    permission: 'write',
    path: '/collections/{collection_id}/documents',
    audit: 'collection.put',
    summary: 'Put many documents in, or take them out',
    description:
      'Answers with one outcome for each, in their order, those of `add` first. What is wrong with one stops no other. ' +
      'The same may be sent again.',
    request: { path: collectionPath, body: membersBody },
    responses: { 200: z.array(memberOutcome), 404: errorBody },
    examples: changeMembersExamples,
    handle: async ({ path, body, context }, reply) =>
      reply.json(
        200,
        (await collectionDocuments.changeMany(path.collection_id, body, context)).map(viewOutcome),
      ),
  });

const done = z.object({ success: z.literal(true) });
const memberResponses = { 200: done, 202: done, 404: errorBody };

const putRoute = ({ collectionDocuments }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'put',
    permission: 'write',
    path: '/collections/{collection_id}/documents/{document_id}',
    audit: 'collection.put',
    summary: 'Put a document into a collection',
    description:
      'You need the right to write both. Answers 200 when searches see it, and 202 when that takes too long. A document may be in ' +
      '32 collections (422).',
    request: { path: memberPath },
    responses: memberResponses,
    examples: putMemberExamples,
    handle: async ({ path, context, prefer }, reply) => {
      const awaited = await collectionDocuments.put(path.collection_id, path.document_id, context);
      return reply.pending(awaited, (record) => replyMoved(record, prefer));
    },
  });

const takeRoute = ({ collectionDocuments }: CollectionRouteDependencies) =>
  defineRoute({
    tag,
    method: 'delete',
    permission: 'write',
    path: '/collections/{collection_id}/documents/{document_id}',
    audit: 'collection.take',
    summary: 'Take a document out of a collection',
    description:
      'The document stays. You need the right to write the collection, and to read the document. It is no longer found in the collection from this moment on.',
    request: { path: memberPath },
    responses: memberResponses,
    examples: takeMemberExamples,
    handle: async ({ path, context, prefer }, reply) => {
      const awaited = await collectionDocuments.take(path.collection_id, path.document_id, context);
      return reply.pending(awaited, (record) => replyMoved(record, prefer));
    },
  });

type Moved = Awaited<AwaitedDocument['settled']>;

function replyMoved(record: Moved, prefer: Parameters<typeof preferenceApplied>[0]) {
  if (!record) throw documentNotFound();
  const isDone = record.retag === 0;
  const headers = preferenceApplied(prefer, isDone);
  const body = { success: true } as const;
  if (isDone) return { type: 'json', status: 200, body, headers } as const;
  const location = { Location: `/documents/${record.id}/status` };
  return { type: 'json', status: 202, body, headers: { ...headers, ...location } } as const;
}
