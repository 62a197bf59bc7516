import { z } from 'zod';
import { CACHE_NAME, type CacheRecord } from '../../shared/caches.js';
import { MAX_FILTER_BYTES } from '../../shared/filter-place.js';
import { bodyFilters, queryFilters } from '../filter-query.js';
import { errorBody } from '../responses.js';
import { defineRoute, reply, type ApiReply, type ApiRequest, type Route } from '../route.js';
import type { RequireRoom } from '../services/admission.js';
import { shownConfig, type BuildResult, type CacheRequest, type CacheService } from '../services/caches.js';
import { list, nonBlankString, optionalNull, queryFloat, queryInteger } from '../validation.js';
import { preferenceApplied } from './document-replies.js';
import { completionOptions, MAX_QUERY_CHARACTERS, QUERY_BODY_BYTES, usageCounts } from './retrieval.js';

const name = z.string().regex(CACHE_NAME);
/** Names that no cache can have are unknown, not wrong, where one is only asked for. */
const anyName = z.object({ name: z.string() });
const modelName = nonBlankString({ max: 256 });
const MOST_DOCS = 100_000;
const docs = list(z.string(), { max: MOST_DOCS });
/** Ids in quotes with comma and blank, the largest filter with each byte as an escape of six, and room for the rest. */
const DOCS_BODY_BYTES = 40 * MOST_DOCS + 6 * MAX_FILTER_BYTES + 64 * 1024;

const createBody = z.object({
  name,
  model: modelName,
  gguf_file: modelName,
  filters: bodyFilters,
  docs: optionalNull(docs),
});
const queryBody = z.object({ query: nonBlankString({ max: MAX_QUERY_CHARACTERS }), ...completionOptions });

const config = {
  name: z.string(),
  model: z.string(),
  gguf_file: z.string(),
  filters: z.record(z.string(), z.unknown()).optional(),
  doc_count: z.int(),
  engine: z.string(),
  token_count: z.int(),
  status: z.enum(['building', 'ready', 'failed']),
  error: z.string().optional(),
};
const configuration = z.object(config).meta({ id: 'CacheConfiguration' });
const created = z.object({ ...config, success: z.boolean() }).meta({ id: 'CacheCreated' });
const changed = z.object({ success: z.boolean(), status: z.string() }).meta({ id: 'CacheChanged' });
const existence = z.object(config).partial().extend({ exists: z.boolean() }).meta({ id: 'CacheExistence' });
const answer = z
  .object({
    completion: z.string(),
    tokens_used: z.int(),
    finish_reason: z.enum(['stop', 'length']),
    usage: usageCounts,
    tokens_reused: z.int(),
  })
  .meta({ id: 'CacheAnswer' });

export function createCacheRoutes(parts: {
  caches: CacheService;
  room: RequireRoom;
  engine: string;
  waitSeconds: number;
}): Route[] {
  const { caches, room, engine, waitSeconds } = parts;
  const admit = async () => {
    await room.forGrowth('caches');
    return () => undefined;
  };
  const tag = 'Caches';
  const view = (cache: CacheRecord) => toConfiguration(cache, engine);
  const toRequest = (cacheName: string, request: ApiRequest<unknown, unknown, unknown>): CacheRequest => {
    const { caller, requestId, startedAtMs, prefer, signal } = request;
    const wait = prefer.waitSeconds ?? (prefer.respondAsync ? 0 : waitSeconds);
    return { ownerId: caller.id, name: cacheName, requestId, startedAtMs, waitSeconds: wait, signal };
  };
  const change = ({ ready }: BuildResult, request: ApiRequest<unknown, unknown, unknown>) =>
    replyBuilt(request, ready, { success: true, status: ready ? 'ready' : 'building' });

  return [
    defineRoute({
      ...{ method: 'post', path: '/cache/create', tag, permission: 'write', emptyBody: 'object' },
      ...{ maxBodyBytes: DOCS_BODY_BYTES, admit },
      summary: 'Makes a named cache of documents',
      request: {
        body: createBody,
        fromQuery: z.object({
          name: z.string().optional(),
          model: z.string().optional(),
          gguf_file: z.string().optional(),
          filters: queryFilters.transform(({ json }) => json ?? undefined),
        }),
      },
      responses: { 200: created, 202: created, 400: errorBody, 404: errorBody, 409: errorBody },
      handle: async (request) => {
        const { name: cacheName, model, gguf_file: ggufFile, docs: ids, filters } = request.body;
        const wanted = { model, ggufFile, docs: ids, filters };
        const { cache, ready } = await caches.create(toRequest(cacheName, request), wanted);
        return replyBuilt(request, ready, { ...view(cache), success: true });
      },
    }),
    defineRoute({
      ...{ method: 'get', path: '/cache/{name}', tag, permission: 'read' },
      summary: 'Whether a named cache exists, and what it is',
      request: { path: anyName },
      responses: { 200: existence },
      handle: async ({ caller, path: { name: cacheName } }) => {
        const cache = await caches.find(caller.id, cacheName);
        return reply.json(200, cache ? { exists: true, ...view(cache) } : { exists: false });
      },
    }),
    defineRoute({
      ...{ method: 'get', path: '/caches', tag, permission: 'read' },
      summary: 'Named caches of the caller',
      request: {},
      responses: { 200: z.array(configuration) },
      handle: ({ caller }) => Promise.resolve(reply.items(caches.list(caller.id), view)),
    }),
    defineRoute({
      ...{ method: 'post', path: '/cache/{name}/update', tag, permission: 'write', emptyBody: 'object' },
      admit,
      summary: 'Adds new documents that match the filters of the cache, and the new text of changed ones',
      request: { path: anyName },
      responses: { 200: changed, 202: changed, 400: errorBody, 404: errorBody, 409: errorBody },
      handle: async (request) => change(await caches.update(toRequest(request.path.name, request)), request),
    }),
    defineRoute({
      ...{ method: 'post', path: '/cache/{name}/add_docs', tag, permission: 'write', emptyBody: 'object' },
      ...{ maxBodyBytes: DOCS_BODY_BYTES, admit },
      summary: 'Adds documents to a cache',
      request: { path: anyName, body: z.object({ docs }) },
      responses: { 200: changed, 202: changed, 400: errorBody, 404: errorBody, 409: errorBody },
      handle: async (request) =>
        change(await caches.addDocuments(toRequest(request.path.name, request), request.body.docs), request),
    }),
    defineRoute({
      ...{ method: 'post', path: '/cache/{name}/query', tag, permission: 'read', emptyBody: 'object' },
      maxBodyBytes: QUERY_BODY_BYTES,
      summary: 'A completion over the documents of a cache',
      request: {
        path: anyName,
        body: queryBody,
        fromQuery: z.object({
          query: z.string().optional(),
          max_tokens: queryInteger().optional(),
          temperature: queryFloat().optional(),
        }),
      },
      responses: { 200: answer, 404: errorBody, 409: errorBody },
      handle: async ({ caller, path: { name: cacheName }, body, startedAtMs, signal }) => {
        const { query, max_tokens: maxTokens, temperature } = body;
        const asked = {
          ownerId: caller.id,
          name: cacheName,
          query,
          maxTokens,
          temperature,
          startedAtMs,
          signal,
        };
        const found = await caches.query(asked);
        const usage = {
          completion_tokens: found.completionTokens,
          prompt_tokens: found.promptTokens,
          total_tokens: found.promptTokens + found.completionTokens,
        };
        return reply.json(200, {
          completion: found.completion,
          tokens_used: usage.total_tokens,
          finish_reason: found.finishReason,
          usage,
          tokens_reused: found.tokensReused,
        });
      },
    }),
    defineRoute({
      ...{ method: 'delete', path: '/cache/{name}', tag, permission: 'write' },
      summary: 'Deletes a cache, not its documents',
      request: { path: anyName },
      responses: { 200: z.object({ success: z.boolean() }) },
      handle: async ({ caller, path: { name: cacheName } }) => {
        await caches.remove(caller.id, cacheName);
        return reply.json(200, { success: true });
      },
    }),
  ];
}

function replyBuilt(
  { prefer }: ApiRequest<unknown, unknown, unknown>,
  ready: boolean,
  body: unknown,
): ApiReply {
  return reply.json(ready ? 200 : 202, body, preferenceApplied(prefer, ready));
}

function toConfiguration(cache: CacheRecord, engine: string) {
  const { ready, building, failure } = cache;
  const { model, ggufFile, filters } = shownConfig(cache);
  return {
    name: cache.name,
    ...{ model, gguf_file: ggufFile, engine },
    ...(filters === null ? {} : { filters }),
    doc_count: building ? building.documentIds.length : (ready?.members.length ?? 0),
    token_count: ready?.tokenCount ?? 0,
    status: building ? 'building' : ready ? 'ready' : 'failed',
    ...(failure ? { error: failure.message } : {}),
  };
}
