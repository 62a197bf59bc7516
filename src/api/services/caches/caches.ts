import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type {
  CacheBuild,
  CacheConfig,
  CacheFailure,
  CacheRecord,
  Caches,
} from '../../../shared/caches/caches.js';
import { readCachePassages } from '../../../shared/caches/passages.js';
import { removeCache, startBuild } from '../../../shared/caches/transitions.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, ImpossibleError, NotFoundError, TryLaterError } from '../../../shared/errors.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { CacheEngine } from '../../../shared/ports.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import { keys } from '../../../shared/redis/keys.js';
import type { Accounting } from '../accounting.js';
import type { ChangeWaiter } from '../ingest/change-waiter.js';
import type { RequestContext } from '../request-context.js';
import type { CacheSelection } from './cache-selection.js';

export interface CacheRequest extends Omit<RequestContext, 'callerId'> {
  readonly ownerId: string;
  readonly name: string;
}

export interface CacheQueryRequest {
  readonly ownerId: string;
  readonly name: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly query: string;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export interface CacheSpecification extends Omit<CacheConfig, 'filters'> {
  readonly docs: readonly string[] | undefined;
  /** What chooses documents, and its JSON, which is kept for later updates; null when there is none. */
  readonly filters: { readonly filter: Filter | null; readonly json: unknown };
}

/** `ready` says whether the build was over when the wait was. */
export interface BuildResult {
  readonly cache: CacheRecord;
  readonly ready: boolean;
}

const jsonSchema = z.json();

export interface CacheAnswer {
  readonly completion: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly finishReason: 'stop' | 'length';
  readonly tokensReused: number;
}

export interface CacheService {
  create(request: CacheRequest, specification: CacheSpecification): Promise<BuildResult>;
  update(request: CacheRequest): Promise<BuildResult>;
  addDocuments(request: CacheRequest, docs: readonly string[]): Promise<BuildResult>;
  find(ownerId: string, name: string): Promise<CacheRecord | null>;
  list(ownerId: string): AsyncIterable<CacheRecord>;
  remove(ownerId: string, name: string): Promise<void>;
  query(request: CacheQueryRequest): Promise<CacheAnswer>;
}

interface Parts {
  readonly caches: Caches;
  readonly selection: CacheSelection;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly waiter: ChangeWaiter;
  readonly engine: CacheEngine;
  readonly accounting: Accounting;
  readonly defaultMaxTokens: number;
  /** For callers that do not say how long they wait. */
  readonly waitSeconds: number;
  readonly logger: Logger;
}

export function createCacheService(parts: Parts): CacheService {
  const { caches, selection, engine } = parts;
  return {
    create: (request, specification) => create(parts, request, specification),

    update: async (request) => {
      const cache = await known(caches, request);
      const added = await selection.matching(request.ownerId, shownConfig(cache).filters);
      const next = (current: CacheRecord | null) => extend(current, added);
      return startAndWait(parts, request, { type: 'update_cache', next });
    },

    addDocuments: async (request, docs) => {
      await known(caches, request);
      const added = await selection.select(request.ownerId, { docs });
      const next = (current: CacheRecord | null) => extend(current, added);
      return startAndWait(parts, request, { type: 'add_docs_to_cache', next });
    },

    find: (ownerId, name) => caches.read(ownerId, name),

    list: (ownerId) => caches.list(ownerId),

    remove: async (ownerId, name) => {
      const { ready } = await known(caches, { ownerId, name });
      await caches.update(ownerId, name, removeCache);
      if (ready) await engine.remove(ready.build);
    },

    query: (request) => query(parts, request),
  };
}

async function known(
  caches: Caches,
  { ownerId, name }: Pick<CacheRequest, 'ownerId' | 'name'>,
): Promise<CacheRecord> {
  const cache = await caches.read(ownerId, name);
  if (!cache) throw cacheNotFound(name);
  return cache;
}

async function create(
  parts: Parts,
  request: CacheRequest,
  { docs, filters, model, ggufFile }: CacheSpecification,
): Promise<BuildResult> {
  const filter = filters.json === null ? undefined : filters.filter;
  const documentIds = await parts.selection.select(request.ownerId, { docs, filter });
  if (documentIds.length === 0) throw new ImpossibleError('No documents to add to cache');
  const config = { model, ggufFile, filters: jsonSchema.parse(filters.json) };
  return startAndWait(parts, request, { type: 'create_cache', next: () => ({ config, documentIds }) });
}

function query(parts: Parts, request: CacheQueryRequest): Promise<CacheAnswer> {
  const { ownerId, name, startedAtMs, signal } = request;
  const metadata = { query: request.query, cache: name };
  return parts.accounting.run(
    { operation: 'query_cache', userId: ownerId, startedAtMs, signal, metadata },
    async () => {
      const result = await answer(parts, request);
      return { result, tokens: result.promptTokens + result.completionTokens };
    },
  );
}

async function answer(parts: Parts, request: CacheQueryRequest): Promise<CacheAnswer> {
  const { ownerId, name, query: question, temperature, signal } = request;
  const { ready, building } = await known(parts.caches, request);
  if (!ready) throw notReady(name, building !== null);
  const passages = await readCachePassages(parts, {
    ownerId,
    members: ready.members,
    // They were built within bounds, and serve the same text.
    maxCharacters: Infinity,
  });
  const options = { maxTokens: request.maxTokens ?? parts.defaultMaxTokens, temperature, signal };
  let completion = '';
  for await (const event of parts.engine.query(ready.build, { question, passages }, options)) {
    if (event.type === 'text') completion += event.text;
    else {
      const { promptTokens, completionTokens, finishReason, tokensReused } = event;
      return { completion, promptTokens, completionTokens, finishReason, tokensReused };
    }
  }
  throw new Error('the cache engine ended without saying so');
}

interface Wanted {
  readonly type: CacheBuild['operation']['type'];
  /** What to build, from the cache as it stands when the build is entered. */
  readonly next: (cache: CacheRecord | null) => Pick<CacheBuild, 'config' | 'documentIds'> | null;
}

async function startAndWait(
  { caches, jobs, waiter, logger, waitSeconds: usualSeconds }: Parts,
  { ownerId, name, requestId, startedAtMs, waitSeconds, signal }: CacheRequest,
  { type, next }: Wanted,
): Promise<BuildResult> {
  const id = randomUUID();
  const operation = { type, startedAtMs, metadata: { cache: name } };
  const { changed } = await caches.update(ownerId, name, (cache) => {
    const what = next(cache);
    return what && startBuild(cache, { ownerId, name, build: id, requestId, operation, ...what });
  });
  if (!changed) throw cacheNotFound(name);
  await jobs.addCacheBuild({ ownerId, name, build: id, requestId }).catch((error: unknown) => {
    // The record says what is to be built: the sweeper gives it a job once the queue is back.
    logger.warn({ requestId, err: error }, 'cache build not queued');
  });
  const cache = await waiter.waitFor({
    id: keys.cache(ownerId, name),
    read: () => caches.read(ownerId, name),
    isDone: (each) => each?.building?.build !== id,
    milliseconds: (waitSeconds ?? usualSeconds) * 1_000,
    signal,
  });
  if (!cache) throw cacheNotFound(name);
  if (cache.failure?.build === id) throw buildFailed(cache.failure);
  return { cache, ready: cache.building === null };
}

function buildFailed({ code, message }: CacheFailure): Error {
  return code === 'internal'
    ? new TryLaterError(message, { retryAfterSeconds: 10 })
    : new ImpossibleError(message);
}

/** The documents a cache has, or is about to have, and those that are new. Null when it was deleted meanwhile. */
function extend(cache: CacheRecord | null, added: readonly string[]) {
  if (!cache) return null;
  const before =
    cache.building?.documentIds ?? cache.ready?.members.map(({ documentId }) => documentId) ?? [];
  return { config: shownConfig(cache), documentIds: [...new Set([...before, ...added])] };
}

export function shownConfig({ ready, building, failure }: CacheRecord): CacheConfig {
  const config = building?.config ?? ready?.config ?? failure?.config;
  if (!config) throw new Error('a cache without a configuration');
  return config;
}

function cacheNotFound(name: string): NotFoundError {
  return new NotFoundError(`Cache '${name}' not found`);
}

function notReady(name: string, isBuilding: boolean): ConflictError {
  const detail = isBuilding ? `Cache '${name}' is being built` : `Cache '${name}' could not be built`;
  return new ConflictError(detail, { retryAfterSeconds: 2 });
}
