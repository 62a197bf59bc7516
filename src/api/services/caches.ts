import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { readCachePassages } from '../../shared/cache-passages.js';
import {
  removeCache,
  startBuild,
  type CacheBuild,
  type CacheConfig,
  type CacheFailure,
  type CacheRecord,
  type Caches,
} from '../../shared/caches.js';
import type { Chunks } from '../../shared/chunks.js';
import { AppError } from '../../shared/errors.js';
import type { Jobs } from '../../shared/jobs.js';
import { keys } from '../../shared/keys.js';
import type { Logger } from '../../shared/logger.js';
import type { CacheEngine } from '../../shared/ports.js';
import type { Records } from '../../shared/records.js';
import type { RequestFilter } from '../filter-query.js';
import type { Accounting } from './accounting.js';
import type { CacheSelection } from './cache-selection.js';
import type { ChangeWaiter } from './waiting.js';

export interface CacheRequest {
  readonly ownerId: string;
  readonly name: string;
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
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
  readonly filters: RequestFilter;
}

/** `ready` says whether the build was over when the wait was. */
export interface BuildResult {
  readonly cache: CacheRecord;
  readonly ready: boolean;
}

const jsonSchema = z.json();

/** Of the filters of a cache as JSON: they are stored, and shown in every list. */
const MOST_FILTER_CHARACTERS = 16_384;

const filtersTooLong = () =>
  new AppError(422, [
    {
      loc: ['body', 'filters'],
      msg: `ensure this value has at most ${String(MOST_FILTER_CHARACTERS)} characters as JSON`,
      type: 'value_error.any_str.max_length',
      ctx: { limit_value: MOST_FILTER_CHARACTERS },
    },
  ]);

export type CacheService = ReturnType<typeof createCacheService>;

export function createCacheService(parts: {
  readonly caches: Caches;
  readonly selection: CacheSelection;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly jobs: Jobs;
  readonly waiter: ChangeWaiter;
  readonly engine: CacheEngine;
  readonly accounting: Accounting;
  readonly defaultMaxTokens: number;
  readonly logger: Logger;
}) {
  const { caches, selection, engine, accounting } = parts;

  const known = async (ownerId: string, name: string): Promise<CacheRecord> => {
    const cache = await caches.read(ownerId, name);
    if (!cache) throw cacheNotFound(name);
    return cache;
  };

  const build = (request: CacheRequest, wanted: Wanted) => startAndWait(parts, request, wanted);

  return {
    create: async (
      request: CacheRequest,
      { docs, filters, ...config }: CacheSpecification,
    ): Promise<BuildResult> => {
      if (filters.json !== null && JSON.stringify(filters.json).length > MOST_FILTER_CHARACTERS)
        throw filtersTooLong();
      const filter = filters.json === null ? undefined : filters.filter;
      const documentIds = await selection.select(request.ownerId, { docs, filter });
      if (documentIds.length === 0) throw new AppError(400, 'No documents to add to cache');
      const wanted = { ...config, filters: jsonSchema.parse(filters.json) };
      return build(request, { type: 'create_cache', next: () => ({ config: wanted, documentIds }) });
    },

    update: async (request: CacheRequest): Promise<BuildResult> => {
      const cache = await known(request.ownerId, request.name);
      const added = await selection.matching(request.ownerId, shownConfig(cache).filters);
      return build(request, { type: 'update_cache', next: (current) => extend(current, added) });
    },

    addDocuments: async (request: CacheRequest, docs: readonly string[]): Promise<BuildResult> => {
      await known(request.ownerId, request.name);
      const added = await selection.select(request.ownerId, { docs });
      return build(request, { type: 'add_docs_to_cache', next: (current) => extend(current, added) });
    },

    find: (ownerId: string, name: string): Promise<CacheRecord | null> => caches.read(ownerId, name),

    list: (ownerId: string): AsyncIterable<CacheRecord> => caches.list(ownerId),

    remove: async (ownerId: string, name: string): Promise<void> => {
      const { ready } = await known(ownerId, name);
      await caches.update(ownerId, name, removeCache);
      if (ready) await engine.remove(ready.build);
    },

    query: (request: CacheQueryRequest) => {
      const { ownerId, name, query, startedAtMs, signal, temperature } = request;
      const metadata = { query, cache: name };
      return accounting.run(
        { operation: 'query_cache', userId: ownerId, startedAtMs, signal, metadata },
        async () => {
          const { ready, building } = await known(ownerId, name);
          if (!ready) throw notReady(name, building !== null);
          const passages = await readCachePassages(parts, { ownerId, members: ready.members });
          const maxTokens = request.maxTokens ?? parts.defaultMaxTokens;
          let completion = '';
          const options = { maxTokens, temperature, signal };
          for await (const event of engine.query(ready.build, { question: query, passages }, options)) {
            if (event.type === 'text') completion += event.text;
            else {
              const { promptTokens, completionTokens, finishReason, tokensReused } = event;
              const tokens = promptTokens + completionTokens;
              return {
                result: { completion, promptTokens, completionTokens, finishReason, tokensReused },
                tokens,
              };
            }
          }
          throw new Error('the cache engine ended without saying so');
        },
      );
    },
  };
}

interface Wanted {
  readonly type: CacheBuild['operation']['type'];
  /** What to build, from the cache as it stands when the build is entered. */
  readonly next: (cache: CacheRecord | null) => Pick<CacheBuild, 'config' | 'documentIds'> | null;
}

async function startAndWait(
  { caches, jobs, waiter, logger }: { caches: Caches; jobs: Jobs; waiter: ChangeWaiter; logger: Logger },
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
    milliseconds: waitSeconds * 1_000,
    signal,
  });
  if (!cache) throw cacheNotFound(name);
  if (cache.failure?.build === id) throw buildFailed(cache.failure);
  return { cache, ready: cache.building === null };
}

function buildFailed({ code, message }: CacheFailure): AppError {
  return code === 'internal'
    ? new AppError(503, message, { headers: { 'Retry-After': '10' } })
    : new AppError(400, message);
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

function cacheNotFound(name: string): AppError {
  return new AppError(404, `Cache '${name}' not found`);
}

function notReady(name: string, isBuilding: boolean): AppError {
  const detail = isBuilding ? `Cache '${name}' is being built` : `Cache '${name}' could not be built`;
  return new AppError(409, detail, { headers: { 'Retry-After': '2' } });
}
