import type { CacheRecord } from '../../../shared/caches/cache-record.js';
import { removeCache } from '../../../shared/caches/transitions.js';
import { MalformedRecordError } from '../../../shared/errors.js';
import {
  addCacheDocuments,
  awaitBuild,
  createCache,
  updateCache,
  type BuildResult,
  type CacheBuildParts,
  type CacheRequest,
  type CacheSpecification,
} from './cache-builds.js';
import {
  queryCache,
  streamCacheAnswer,
  type CacheAnswer,
  type CacheAnswerEvent,
  type CacheQueryParts,
  type CacheQueryRequest,
} from './cache-queries.js';
import { findCache } from './find-cache.js';

export interface CacheService {
  create(request: CacheRequest, specification: CacheSpecification): Promise<BuildResult>;
  update(request: CacheRequest): Promise<BuildResult>;
  addDocuments(request: CacheRequest, docs: readonly string[]): Promise<BuildResult>;
  /** Waits for a build that was started before; null when it has to be started again. */
  awaitBuild(request: CacheRequest, build: string): Promise<BuildResult | null>;
  find(ownerId: string, name: string): Promise<CacheRecord | null>;
  /** The share of the build under way that is done, from 0 to 1; null where nothing is known of it. */
  progressOf(cache: CacheRecord): Promise<number | null>;
  list(ownerId: string): AsyncIterable<CacheRecord>;
  remove(ownerId: string, name: string): Promise<void>;
  query(request: CacheQueryRequest): Promise<CacheAnswer>;
  stream(request: CacheQueryRequest): AsyncIterable<CacheAnswerEvent>;
}

/** Named caches of an owner: their builds, which workers do, and the queries that they answer. */
export function createCacheService(parts: CacheBuildParts & CacheQueryParts): CacheService {
  const { caches } = parts;
  return {
    create: (request, specification) => createCache(parts, request, specification),
    update: (request) => updateCache(parts, request),
    addDocuments: (request, docs) => addCacheDocuments(parts, request, docs),
    awaitBuild: (request, build) => awaitBuild(parts, request, build),
    find: (ownerId, name) => caches.read(ownerId, name),
    progressOf: ({ building }) => (building ? caches.readProgress(building.build) : Promise.resolve(null)),
    list: (ownerId) => caches.list(ownerId),
    remove: (ownerId, name) => remove(parts, ownerId, name),
    query: (request) => queryCache(parts, request),
    stream: (request) => streamCacheAnswer(parts, request),
  };
}

async function remove(
  { caches, engines, logger }: CacheQueryParts & CacheBuildParts,
  ownerId: string,
  name: string,
): Promise<void> {
  try {
    const { ready } = await findCache(caches, { ownerId, name });
    await caches.update(ownerId, name, removeCache);
    if (ready?.config.engine.name !== 'llama') return;
    await engines
      .forget({ ownerId, name, build: ready.build })
      .catch((error: unknown) => logger.warn({ err: error }, 'the sweep removes the state of a cache'));
  } catch (error) {
    if (!(error instanceof MalformedRecordError)) throw error;
    await caches.removeMalformed(ownerId, name);
  }
}
