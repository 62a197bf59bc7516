import { z } from 'zod';
import { CACHE_NAME, type CacheRecord } from '../../shared/caches/caches.js';
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
import { contextOf } from './request-context.js';
import { completionOptions, MAX_QUERY_CHARACTERS, QUERY_BODY_BYTES } from './retrieval.js';

const name = z.string().regex(CACHE_NAME);
/** Names that no cache can have are unknown, not wrong, where one is only asked for. */
const anyName = z.object({ name: z.string() });
const modelName = nonBlankString({ max: 256 });
const MAX_DOCS = 100_000;
const docs = list(z.string(), { max: MAX_DOCS });
/** Ids in quotes with comma and blank, the largest filter with each byte as an escape of six, and room for the rest. */
const DOCS_BODY_BYTES = 40 * MAX_DOCS + 6 * MAX_FILTER_BYTES + 64 * 1024;
/** Of the filters of a cache as JSON: they are stored, and shown in every list. */
const MAX_FILTER_CHARACTERS = 16_384;

const createBody = z.object({
  name,
  model: modelName,
  gguf_file: modelName,
  filters: bodyFilters,
  docs: optionalNull(docs),
});
const createQuery = z.object({
  name: z.string().optional(),
  model: z.string().optional(),
  gguf_file: z.string().optional(),
  filters: queryFilters.transform(({ json }) => json ?? undefined),
});
const queryBody = z.object({ query: nonBlankString({ max: MAX_QUERY_CHARACTERS }), ...completionOptions });
const queryQuery = z.object({
  query: z.string().optional(),
  max_tokens: queryInteger().optional(),
  temperature: queryFloat().optional(),
});

const tag = 'Caches';
const changeResponses = { 200: changed, 202: changed, 400: errorBody, 404: errorBody, 409: errorBody };

export interface CacheRouteDependencies {
  readonly caches: CacheService;
  readonly room: RequireRoom;
  /** Name of the engine that holds the caches. */
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
    summary: 'Makes a named cache of documents',
    request: { body: createBody, fromQuery: createQuery },
    responses: { 200: created, 202: created, 400: errorBody, 404: errorBody, 409: errorBody },
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
    summary: 'Whether a named cache exists, and what it is',
    request: { path: anyName },
    responses: { 200: existence },
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
    summary: 'Named caches of the caller',
    request: {},
    responses: { 200: z.array(configuration) },
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
    summary: 'Adds new documents that match the filters of the cache, and the new text of changed ones',
    request: { path: anyName },
    responses: changeResponses,
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
    summary: 'Adds documents to a cache',
    request: { path: anyName, body: z.object({ docs }) },
    responses: changeResponses,
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
    summary: 'A completion over the documents of a cache',
    request: { path: anyName, body: queryBody, fromQuery: queryQuery },
    responses: { 200: answer, 404: errorBody, 409: errorBody },
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
    summary: 'Deletes a cache, not its documents',
    request: { path: anyName },
    responses: { 200: z.object({ success: z.boolean() }) },
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

/** 200 when the cache is built, 202 while it is not. */
function replyBuilt<Body>(
  { prefer }: ApiRequest<unknown, unknown, unknown>,
  ready: boolean,
  body: Body,
): JsonReply<200, Body> | JsonReply<202, Body> {
  const headers = preferenceApplied(prefer, ready);
  return ready ? { type: 'json', status: 200, body, headers } : { type: 'json', status: 202, body, headers };
}
