import { z } from 'zod';
import { SHARED } from '../../../shared/access/sharing.js';
import { noteCache } from '../../../shared/audit/notes.js';
import type { CacheRecord } from '../../../shared/caches/cache-record.js';
import { CACHE_NAME } from '../../../shared/caches/cache-store.js';
import { MAX_FILTER_BYTES } from '../../../shared/filters/parse.js';
import { HttpError } from '../../http/http-error.js';
import { preferenceApplied } from '../../http/request/headers.js';
import { errorBody } from '../../http/response/declared-responses.js';
import type { JsonReply } from '../../http/response/reply.js';
import { defineRoute, type ApiRequest, type Route } from '../../http/route.js';
import {
  list,
  nonBlankString,
  optionalNull,
  optionalNullOr,
  queryFloat,
  queryInteger,
} from '../../http/validation/field-schemas.js';
import {
  bodyFilters,
  collectionField,
  queryFilters,
  type RequestFilter,
} from '../../http/validation/search-fields.js';
import type { BuildResult, CacheRequest } from '../../services/caches/cache-builds.js';
import type { CacheService } from '../../services/caches/caches.js';
import type { RequireRoom } from '../../services/ingest/admission/require-room.js';
import {
  addDocumentsExamples,
  createCacheExamples,
  deleteCacheExamples,
  findCacheExamples,
  listCachesExamples,
  queryCacheExamples,
  updateCacheExamples,
} from '../examples/caches.js';
import { QUERY_BODY_BYTES, completionOptions, MAX_QUERY_CHARACTERS } from '../retrieval.js';
import {
  answer,
  answerEvent,
  changed,
  configuration,
  created,
  existence,
  viewAnswer,
  viewAnswerEvent,
  viewCache,
} from './cache-view.js';

const tag = 'Caches';
const changeResponses = { 200: changed, 202: changed, 400: errorBody, 404: errorBody, 409: errorBody };

export interface CacheRouteDependencies {
  readonly caches: CacheService;
  readonly room: RequireRoom;
}

export function createCacheRoutes({ caches, room }: CacheRouteDependencies): Route[] {
  const admit = async () => {
    await room.forGrowth('caches');
    return undefined;
  };
  const view = (cache: CacheRecord) => viewCache(cache);
  return [
    createRoute(caches, { admit, view }),
    findRoute(caches),
    listRoute(caches, view),
    updateRoute(caches, admit),
    addDocumentsRoute(caches, admit),
    queryRoute(caches),
    deleteRoute(caches),
  ];
}

/** Asked before the body is read, as for ingests; caches do not count as waiting. */
type RequireRoomForCaches = () => Promise<undefined>;

type View = (cache: CacheRecord) => z.infer<typeof configuration>;

const CREATE_DESCRIPTION =
  'The cache holds the documents that `docs` names and those that match `filters`, of those in `collection` where it is ' +
  'stated. A cache of the same name is replaced. Answers 200 when the cache is ready, and 202 while it is being built.';

function createRoute(caches: CacheService, { admit, view }: { admit: RequireRoomForCaches; view: View }) {
  type CreateRequest = ApiRequest<unknown, unknown, z.infer<typeof createBody>>;
  const create = (request: CreateRequest) => {
    const { name: cacheName, gguf_file: ggufFile, ...specified } = request.body;
    checkFilterLength(specified.filters);
    noteCache(cacheName);
    return caches.create(requestOf(cacheName, request), { ggufFile, ...specified });
  };
  const replyCreated = (request: CreateRequest, { cache, ready }: BuildResult) =>
    replyBuilt(request, ready, { ...view(cache), success: true });
  return defineRoute({
    method: 'post',
    path: '/cache/create',
    audit: 'cache.create',
    tag,
    permission: 'write',
    emptyBody: 'object',
    maxBodyBytes: DOCS_BODY_BYTES,
    admit,
    summary: 'Make a named cache of documents',
    description: CREATE_DESCRIPTION,
    request: { body: createBody, fromQuery: createQuery },
    responses: { 200: created, 202: created, 400: errorBody, 404: errorBody, 409: errorBody },
    examples: createCacheExamples,
    idempotency: {
      answerAgain: async (request, build) => {
        const asked = requestOf(request.body.name, request);
        return replyCreated(request, (await caches.awaitBuild(asked, build)) ?? (await create(request)));
      },
    },
    handle: async (request) => replyCreated(request, await create(request)),
  });
}

const findRoute = (caches: CacheService) =>
  defineRoute({
    method: 'get',
    path: '/cache/{name}',
    audit: 'cache.read',
    tag,
    permission: 'read',
    summary: 'Tell whether a named cache exists, and what it is',
    description: 'An unknown name is answered with `"exists": false`.',
    request: { path: anyName },
    responses: { 200: existence },
    examples: findCacheExamples,
    handle: async ({ caller, path }, reply) => {
      const cache = await caches.find(caller.id, path.name);
      if (!cache) return reply.json(200, { exists: false });
      const progress = await caches.progressOf(cache);
      return reply.json(200, { exists: true, ...viewCache(cache, progress) });
    },
  });

const listRoute = (caches: CacheService, view: View) =>
  defineRoute({
    method: 'get',
    path: '/caches',
    audit: 'cache.list',
    tag,
    permission: 'read',
    summary: 'List your named caches',
    description: 'Lists all caches that the caller has made.',
    request: {},
    responses: { 200: z.array(configuration) },
    examples: listCachesExamples,
    handle: ({ caller }, reply) => Promise.resolve(reply.items(caches.list(caller.id), view)),
  });

const updateRoute = (caches: CacheService, admit: RequireRoomForCaches) =>
  defineRoute({
    method: 'post',
    path: '/cache/{name}/update',
    audit: 'cache.update',
    tag,
    permission: 'write',
    emptyBody: 'object',
    admit,
    summary: 'Bring a cache up to date',
    description:
      'Adds new documents that match the filters of the cache, and the new text of changed documents.',
    request: { path: anyName },
    responses: changeResponses,
    examples: updateCacheExamples,
    idempotency: {
      answerAgain: async (request, build) => {
        const asked = requestOf(request.path.name, request);
        return replyChanged(request, (await caches.awaitBuild(asked, build)) ?? (await caches.update(asked)));
      },
    },
    handle: async (request) =>
      replyChanged(request, await caches.update(requestOf(request.path.name, request))),
  });

const addDocumentsRoute = (caches: CacheService, admit: RequireRoomForCaches) =>
  defineRoute({
    method: 'post',
    path: '/cache/{name}/add_docs',
    audit: 'cache.add',
    tag,
    permission: 'write',
    emptyBody: 'object',
    maxBodyBytes: DOCS_BODY_BYTES,
    admit,
    summary: 'Add documents to a cache',
    description: 'The documents must be completed. Those that the cache holds already stay.',
    request: { path: anyName, body: z.object({ docs: docs.describe('Ids of documents.') }) },
    responses: changeResponses,
    examples: addDocumentsExamples,
    idempotency: {
      answerAgain: async (request, build) => {
        const asked = requestOf(request.path.name, request);
        const built = await caches.awaitBuild(asked, build);
        return replyChanged(request, built ?? (await caches.addDocuments(asked, request.body.docs)));
      },
    },
    handle: async (request) => {
      const asked = requestOf(request.path.name, request);
      return replyChanged(request, await caches.addDocuments(asked, request.body.docs));
    },
  });

const queryRoute = (caches: CacheService) =>
  defineRoute({
    method: 'post',
    path: '/cache/{name}/query',
    audit: 'cache.query',
    tag,
    permission: 'read',
    emptyBody: 'object',
    maxBodyBytes: QUERY_BODY_BYTES,
    summary: 'Answer a question from the documents of a cache',
    description:
      'The model reads all documents of the cache that the caller may still read, without a search. With `stream`, the ' +
      'answer comes as server-sent events, as that of `/query` does.',
    request: { path: anyName, body: queryBody, fromQuery: queryQuery },
    responses: { 200: answer, 404: errorBody, 409: errorBody },
    examples: queryCacheExamples,
    events: answerEvent,
    handle: async ({ caller, path, body, baseUrl, startedAtMs, signal, whileValid }, reply) => {
      const { query, max_tokens: maxTokens, temperature, stream } = body;
      const { id: ownerId, principal } = caller;
      const named = { ownerId, principal, name: path.name, baseUrl, startedAtMs, signal };
      const asked = { ...named, query, maxTokens, temperature };
      if (stream) return reply.events(caches.stream({ ...asked, signal: whileValid() }), viewAnswerEvent);
      return reply.json(200, viewAnswer(await caches.query(asked)));
    },
  });

const deleteRoute = (caches: CacheService) =>
  defineRoute({
    method: 'delete',
    path: '/cache/{name}',
    audit: 'cache.delete',
    tag,
    permission: 'write',
    summary: 'Delete a cache',
    description: 'The documents of the cache stay.',
    request: { path: anyName },
    responses: { 200: z.object({ success: z.boolean() }) },
    examples: deleteCacheExamples,
    handle: async ({ caller, path }, reply) => {
      await caches.remove(caller.id, path.name);
      return reply.json(200, { success: true });
    },
  });

const replyChanged = (request: ApiRequest<unknown, unknown, unknown>, { ready }: BuildResult) =>
  replyBuilt(request, ready, { success: true, status: ready ? 'ready' : 'building' });

/** Answers 200 when the cache is built, and 202 while it is being built. */
function replyBuilt<Body>(
  { prefer }: ApiRequest<unknown, unknown, unknown>,
  ready: boolean,
  body: Body,
): JsonReply<200, Body> | JsonReply<202, Body> {
  const headers = preferenceApplied(prefer, ready);
  return ready ? { type: 'json', status: 200, body, headers } : { type: 'json', status: 202, body, headers };
}

const NAME_DESCRIPTION = 'The name of the cache.';
const name = z.string().regex(CACHE_NAME).describe(NAME_DESCRIPTION);
/** A name for looking a cache up: a name that no cache can have is unknown rather than invalid. */
const anyName = z.object({ name: z.string().describe(NAME_DESCRIPTION) });
const modelName = nonBlankString({ max: 256 });
const MAX_DOCS = 100_000;
const docs = list(z.string(), { max: MAX_DOCS });
/** Room for quoted ids with a comma and a blank each, and for the largest filter with each byte as an escape of six. */
const DOCS_BODY_BYTES = 40 * MAX_DOCS + 6 * MAX_FILTER_BYTES + 64 * 1024;
/** The JSON of a cache's filters is bounded because it is stored and shown in every list. */
const MAX_FILTER_CHARACTERS = 16_384;

const createBody = z.object({
  name,
  model: modelName.describe('Any name: a label that is returned.'),
  gguf_file: modelName.describe(
    'The name of a file in the models folder. With the engine `auto`, a cache whose file is not there is sent as a prompt.',
  ),
  filters: bodyFilters,
  docs: optionalNull(docs).describe('Ids of documents.'),
  collection: collectionField,
  shared: optionalNull(z.enum(SHARED)).describe(
    'Which documents of others the cache takes and answers from: `all`, those `accepted`, or none (`own`); never those of ' +
      'blocked owners. Without it, the setting `search.shared` decides when the cache is made.',
  ),
});
const inPlaceOf = (field: string) => `Stands for \`${field}\` of the body where that is left out.`;
const createQuery = z.object({
  name: z.string().optional().describe(inPlaceOf('name')),
  model: z.string().optional().describe(inPlaceOf('model')),
  gguf_file: z.string().optional().describe(inPlaceOf('gguf_file')),
  filters: queryFilters.transform(({ json }) => json ?? undefined).describe(inPlaceOf('filters')),
});
const queryBody = z.object({
  query: nonBlankString({ max: MAX_QUERY_CHARACTERS }),
  ...completionOptions,
  stream: optionalNullOr(z.boolean(), false).describe('True for an answer as server-sent events.'),
});
const queryQuery = z.object({
  query: z.string().optional().describe(inPlaceOf('query')),
  max_tokens: queryInteger().optional().describe(inPlaceOf('max_tokens')),
  temperature: queryFloat().optional().describe(inPlaceOf('temperature')),
});

function requestOf(cacheName: string, request: ApiRequest<unknown, unknown, unknown>): CacheRequest {
  const { callerId: ownerId, ...context } = request.context;
  return { ...context, ownerId, name: cacheName };
}

/** @throws HttpError 422 */
function checkFilterLength({ json }: RequestFilter): void {
  if (json === null || JSON.stringify(json).length <= MAX_FILTER_CHARACTERS) return;
  throw new HttpError(422, [
    {
      loc: ['body', 'filters'],
      msg: `ensure this value has at most ${String(MAX_FILTER_CHARACTERS)} characters as JSON`,
      type: 'value_error.any_str.max_length',
      ctx: { limit_value: MAX_FILTER_CHARACTERS },
    },
  ]);
}
