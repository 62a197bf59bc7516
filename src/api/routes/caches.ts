import { z } from 'zod';
import type { CacheRecord } from '../../shared/caches/cache-record.js';
import { CACHE_NAME } from '../../shared/caches/cache-store.js';
import { MAX_FILTER_BYTES } from '../../shared/filters/parse-state.js';
import { bodyFilters, queryFilters, type RequestFilter } from '../http/validation/filters.js';
import {
  list,
  nonBlankString,
  optionalNull,
  queryFloat,
  queryInteger,
} from '../http/validation/field-schemas.js';
import { HttpError } from '../http/http-error.js';
import type { JsonReply } from '../http/response/reply.js';
import { errorBody } from '../http/response/declared-responses.js';
import { defineRoute, type ApiRequest, type Route } from '../http/route.js';
import type { CacheService } from '../services/caches/caches.js';
import type { BuildResult, CacheRequest } from '../services/caches/cache-builds.js';
import type { Admit, RequireRoom } from '../services/ingest/admission.js';
import { answer, changed, configuration, created, existence, viewAnswer, viewCache } from './cache-view.js';
import { preferenceApplied } from './document-replies.js';
import {
  addDocumentsExamples,
  createCacheExamples,
  deleteCacheExamples,
  findCacheExamples,
  listCachesExamples,
  queryCacheExamples,
  updateCacheExamples,
} from './examples/caches.js';
import { contextOf } from './context-of.js';
import { completionOptions, MAX_QUERY_CHARACTERS, QUERY_BODY_BYTES } from './retrieval.js';

const NAME_DESCRIPTION = 'The name of the cache.';
const name = z.string().regex(CACHE_NAME).describe(NAME_DESCRIPTION);
/** Where a cache is only looked up, a name that no cache can have is unknown rather than invalid. */
const anyName = z.object({ name: z.string().describe(NAME_DESCRIPTION) });
const modelName = nonBlankString({ max: 256 });
const MAX_DOCS = 100_000;
const docs = list(z.string(), { max: MAX_DOCS });
/** Room for quoted ids with a comma and a blank each, and for the largest filter with each byte as an escape of six. */
const DOCS_BODY_BYTES = 40 * MAX_DOCS + 6 * MAX_FILTER_BYTES + 64 * 1024;
/** The JSON of a cache's filters is bounded because it is stored and shown in every list. */
const MAX_FILTER_CHARACTERS = 16_384;

const UNUSED = 'Any name. It is stored and returned, and not used by this version.';
const createBody = z.object({
  name,
  model: modelName.describe(UNUSED),
  gguf_file: modelName.describe(UNUSED),
  filters: bodyFilters,
  docs: optionalNull(docs).describe('Ids of documents.'),
});
const inPlaceOf = (field: string) => `Stands for \`${field}\` of the body where that is left out.`;
const createCompletions = z.object({
  name: z.string().optional().describe(inPlaceOf('name')),
  model: z.string().optional().describe(inPlaceOf('model')),
  gguf_file: z.string().optional().describe(inPlaceOf('gguf_file')),
  filters: queryFilters.transform(({ json }) => json ?? undefined).describe(inPlaceOf('filters')),
});
const queryBody = z.object({ query: nonBlankString({ max: MAX_QUERY_CHARACTERS }), ...completionOptions });
const queryQuery = z.object({
  query: z.string().optional().describe(inPlaceOf('query')),
  max_tokens: queryInteger().optional().describe(inPlaceOf('max_tokens')),
  temperature: queryFloat().optional().describe(inPlaceOf('temperature')),
});

const tag = 'Caches';
const changeResponses = { 200: changed, 202: changed, 400: errorBody, 404: errorBody, 409: errorBody };

export interface CacheRouteDependencies {
  readonly caches: CacheService;
  readonly room: RequireRoom;
  /** The name of the engine that holds the caches. */
  readonly engine: string;
}

export function createCacheRoutes({ caches, room, engine }: CacheRouteDependencies): Route[] {
  const admit = async () => {
    await room.forGrowth('caches');
    return () => undefined;
  };
  const view = (cache: CacheRecord) => viewCache(cache, engine);
  return [
    createRoute(caches, { admit, view }),
    findRoute(caches, view),
    listRoute(caches, view),
    updateRoute(caches, admit),
    addDocumentsRoute(caches, admit),
    queryRoute(caches),
    deleteRoute(caches),
  ];
}

type View = (cache: CacheRecord) => z.infer<typeof configuration>;

const createRoute = (caches: CacheService, { admit, view }: { admit: Admit; view: View }) =>
  defineRoute({
    method: 'post',
    path: '/cache/create',
    tag,
    permission: 'write',
    emptyBody: 'object',
    maxBodyBytes: DOCS_BODY_BYTES,
    admit,
    summary: 'Make a named cache of documents',
    description:
      'The cache holds the documents that `docs` names and those that match `filters`. A cache of the same name is ' +
      'replaced. Answers 200 when the cache is ready, and 202 while it is being built.',
    request: { body: createBody, fromQuery: createCompletions },
    responses: { 200: created, 202: created, 400: errorBody, 404: errorBody, 409: errorBody },
    examples: createCacheExamples,
    handle: async (request) => {
      const { name: cacheName, model, gguf_file: ggufFile, docs: ids, filters } = request.body;
      checkLength(filters);
      const wanted = { model, ggufFile, docs: ids, filters };
      const { cache, ready } = await caches.create(requestOf(cacheName, request), wanted);
      return replyBuilt(request, ready, { ...view(cache), success: true });
    },
  });

const findRoute = (caches: CacheService, view: View) =>
  defineRoute({
    method: 'get',
    path: '/cache/{name}',
    tag,
    permission: 'read',
    summary: 'Tell whether a named cache exists, and what it is',
    description: 'An unknown name is answered with `"exists": false`.',
    request: { path: anyName },
    responses: { 200: existence },
    examples: findCacheExamples,
    handle: async ({ caller, path }, reply) => {
      const cache = await caches.find(caller.id, path.name);
      return reply.json(200, cache ? { exists: true, ...view(cache) } : { exists: false });
    },
  });

const listRoute = (caches: CacheService, view: View) =>
  defineRoute({
    method: 'get',
    path: '/caches',
    tag,
    permission: 'read',
    summary: 'List your named caches',
    description: 'Lists all caches that the caller has made.',
    request: {},
    responses: { 200: z.array(configuration) },
    examples: listCachesExamples,
    handle: ({ caller }, reply) => Promise.resolve(reply.items(caches.list(caller.id), view)),
  });

const updateRoute = (caches: CacheService, admit: Admit) =>
  defineRoute({
    method: 'post',
    path: '/cache/{name}/update',
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
    handle: async (request) =>
      replyChanged(request, await caches.update(requestOf(request.path.name, request))),
  });

const addDocumentsRoute = (caches: CacheService, admit: Admit) =>
  defineRoute({
    method: 'post',
    path: '/cache/{name}/add_docs',
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
    handle: async (request) => {
      const asked = requestOf(request.path.name, request);
      return replyChanged(request, await caches.addDocuments(asked, request.body.docs));
    },
  });

const queryRoute = (caches: CacheService) =>
  defineRoute({
    method: 'post',
    path: '/cache/{name}/query',
    tag,
    permission: 'read',
    emptyBody: 'object',
    maxBodyBytes: QUERY_BODY_BYTES,
    summary: 'Answer a question from the documents of a cache',
    description:
      'The model reads all documents of the cache that the caller may still read, without a search.',
    request: { path: anyName, body: queryBody, fromQuery: queryQuery },
    responses: { 200: answer, 404: errorBody, 409: errorBody },
    examples: queryCacheExamples,
    handle: async ({ caller, path, body, startedAtMs, signal }, reply) => {
      const { query, max_tokens: maxTokens, temperature } = body;
      const asked = { ownerId: caller.id, name: path.name, query, maxTokens, temperature };
      return reply.json(200, viewAnswer(await caches.query({ ...asked, startedAtMs, signal })));
    },
  });

const deleteRoute = (caches: CacheService) =>
  defineRoute({
    method: 'delete',
    path: '/cache/{name}',
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

function requestOf(cacheName: string, request: ApiRequest<unknown, unknown, unknown>): CacheRequest {
  const { callerId: ownerId, ...context } = contextOf(request);
  return { ...context, ownerId, name: cacheName };
}

/** @throws HttpError 422 */
function checkLength({ json }: RequestFilter): void {
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
