import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { noteDocuments } from '../../../shared/audit/notes.js';
import type {
  CacheBuild,
  CacheConfig,
  CacheEngineChoice,
  CacheFailure,
  CacheRecord,
} from '../../../shared/caches/cache-record.js';
import type { CacheEngines } from '../../../shared/caches/cache-engines.js';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import { startBuild } from '../../../shared/caches/transitions.js';
import { ImpossibleError, TryLaterError } from '../../../shared/errors.js';
import type { Shared, SharedViews } from '../../../shared/access/sharing.js';
import type { Filter } from '../../../shared/filters/parse.js';
import type { Logger } from '../../../shared/observability/logger.js';
import type { Jobs } from '../../../shared/queues/jobs.js';
import { keys } from '../../../shared/redis/keys.js';
import { waitMilliseconds, type ChangeWaiter } from '../ingest/waits.js';
import type { RequestContext } from '../request-context.js';
import type { CacheSelection } from './cache-selection.js';
import { cacheNotFound, findCache, shownConfig } from './find-cache.js';

export interface CacheRequest extends Omit<RequestContext, 'callerId'> {
  readonly ownerId: string;
  readonly name: string;
}

export interface CacheSpecification extends Omit<
  CacheConfig,
  'filters' | 'engine' | 'shared' | 'collection'
> {
  /** The documents of others that it takes; the setting holds where it is undefined. */
  readonly shared: Shared | undefined;
  readonly docs: readonly string[] | undefined;
  readonly collection: string | undefined;
  /** The filter that selects documents, and its JSON, which is stored for later updates. Both are null without a filter. */
  readonly filters: { readonly filter: Filter | null; readonly json: unknown };
}

/** `ready` tells whether the build was finished when the wait ended. */
export interface BuildResult {
  readonly cache: CacheRecord;
  readonly ready: boolean;
}

export interface CacheBuildParts {
  readonly caches: CacheStore;
  readonly engines: CacheEngines;
  readonly selection: CacheSelection;
  readonly sharedViews: Pick<SharedViews, 'standard'>;
  readonly jobs: Jobs;
  readonly waiter: ChangeWaiter;
  /** The time that callers wait who do not state one. */
  readonly waitSeconds: number;
  readonly logger: Logger;
}

const jsonSchema = z.json();

/** Creates a cache, or replaces one of the same name. */
export async function createCache(
  parts: CacheBuildParts,
  request: CacheRequest,
  { docs, filters, collection, model, ggufFile, shared = parts.sharedViews.standard }: CacheSpecification,
): Promise<BuildResult> {
  const filter = filters.json === null && collection === undefined ? undefined : filters.filter;
  const engine = await parts.engines.choose(ggufFile, request, request);
  const maxTokens = selectableTokens(parts, engine);
  const wanted = { docs, filter, collection, maxTokens, shared };
  const documentIds = await parts.selection.select(request.principal, wanted);
  if (documentIds.length === 0) throw new ImpossibleError('No documents to add to cache');
  const chosen = { model, ggufFile, engine, shared, ...(collection !== undefined && { collection }) };
  const config = { ...chosen, filters: jsonSchema.parse(filters.json) };
  return startAndWait(parts, request, { type: 'create_cache', next: () => ({ config, documentIds }) });
}

/** Adds the documents that match the cache's filters now. */
export async function updateCache(parts: CacheBuildParts, request: CacheRequest): Promise<BuildResult> {
  const cache = await findCache(parts.caches, request);
  const { filters, engine, shared, collection } = shownConfig(cache);
  const maxTokens = selectableTokens(parts, engine);
  const added = await parts.selection.matching(request.principal, filters, {
    maxTokens,
    shared,
    collection,
  });
  return startAndWait(parts, request, { type: 'update_cache', next: (current) => extend(current, added) });
}

export async function addCacheDocuments(
  parts: CacheBuildParts,
  request: CacheRequest,
  docs: readonly string[],
): Promise<BuildResult> {
  const { engine, shared } = shownConfig(await findCache(parts.caches, request));
  const maxTokens = selectableTokens(parts, engine);
  const added = await parts.selection.select(request.principal, { docs, maxTokens, shared });
  return startAndWait(parts, request, {
    type: 'add_docs_to_cache',
    next: (current) => extend(current, added),
  });
}

/** A selection of more tokens, by our count, is not read to its end: it cannot fit. */
function selectableTokens({ engines }: CacheBuildParts, choice: CacheEngineChoice): number {
  const { name, contextWindow } = engines.of(choice);
  // A model with a tokenizer of its own counts other tokens, and says itself whether the texts fit.
  return name === 'llama' ? 2 * contextWindow : contextWindow;
}

/**
 * Waits for the build that an earlier request with the same `Idempotency-Key` has started. Null when it failed by our fault,
 * so that it has to be started again.
 */
export async function awaitBuild(
  parts: CacheBuildParts,
  request: CacheRequest,
  build: string,
): Promise<BuildResult | null> {
  const cache = await findCache(parts.caches, request);
  if (cache.failure?.build === build && cache.failure.code === 'internal') return null;
  return waitForBuild(parts, request, {
    build,
    revision: cache.revision,
    isOver: cache.building?.build !== build,
  });
}

interface Wanted {
  readonly type: NonNullable<CacheBuild['operation']>['type'];
  /**
   * Returns the build to make, given the cache at the moment when the build is recorded; null when there is nothing to
   * build.
   */
  readonly next: (cache: CacheRecord | null) => Pick<CacheBuild, 'config' | 'documentIds'> | null;
}

async function startAndWait(
  parts: CacheBuildParts,
  request: CacheRequest,
  { type, next }: Wanted,
): Promise<BuildResult> {
  const { caches, jobs, logger } = parts;
  const { ownerId, name, requestId, startedAtMs, reservation } = request;
  const id = reservation?.id ?? randomUUID();
  const operation = { type, startedAtMs, metadata: { cache: name } };
  const { cache: started, changed } = await caches.update(ownerId, name, (cache) => {
    const what = next(cache);
    if (!what) return null;
    const change = startBuild(cache, { ownerId, name, build: id, requestId, operation, ...what });
    return { ...change, reservation };
  });
  if (!changed) throw cacheNotFound(name);
  if (!started?.building) throw new Error('the build of a cache was not noted');
  noteDocuments(started.building.documentIds);
  const size = { documents: started.building.documentIds.length };
  await jobs.addCacheBuild({ ownerId, name, build: id, requestId }, size).catch((error: unknown) => {
    // The record tells the build. The sweep adds a job for it when the queue is available again.
    logger.warn({ requestId, err: error }, 'cache build not queued');
  });
  return waitForBuild(parts, request, { build: id, revision: started.revision, isOver: false });
}

interface StartedBuild {
  readonly build: string;
  /** The revision of the cache when it was read, and whether the build was over by then. */
  readonly revision: number;
  readonly isOver: boolean;
}

async function waitForBuild(
  { caches, waiter, waitSeconds: usualSeconds }: CacheBuildParts,
  { ownerId, name, signal, ...limits }: CacheRequest,
  { build, revision: since, isOver }: StartedBuild,
): Promise<BuildResult> {
  // A whole record may name 100,000 documents, so it is read once, at the end. The next change of it ends this build.
  await waiter.waitFor({
    id: keys.cache(ownerId, name),
    read: () => caches.readRevision(ownerId, name),
    isDone: (revision) => isOver || revision !== since,
    milliseconds: waitMilliseconds(limits, usualSeconds),
    signal,
  });
  const cache = await caches.read(ownerId, name);
  if (!cache) throw cacheNotFound(name);
  if (cache.failure?.build === build) throw buildFailed(cache.failure);
  return { cache, ready: cache.building === null };
}

function buildFailed({ code, message }: CacheFailure): Error {
  return code === 'internal'
    ? new TryLaterError(message, { retryAfterSeconds: 10 })
    : new ImpossibleError(message);
}

/** Adds documents to the present or coming documents of the cache. Null when the cache was deleted in the meantime. */
function extend(cache: CacheRecord | null, added: readonly string[]) {
  if (!cache) return null;
  const before =
    cache.building?.documentIds ?? cache.ready?.members.map(({ documentId }) => documentId) ?? [];
  return { config: shownConfig(cache), documentIds: [...new Set([...before, ...added])] };
}
