import { usageEvent, type UsageEvent } from '../usage/usage.js';
import type { BuiltCache, CacheBuild, CacheFailure, CacheRecord } from './cache-record.js';
import type { CacheChange } from './cache-store.js';

export function startBuild(
  cache: CacheRecord | null,
  { ownerId, name, ...building }: CacheBuild & { ownerId: string; name: string },
): CacheChange {
  const before = cache ?? { ownerId, name, ready: null, building: null, failure: null, revision: 0 };
  return { cache: { ...before, building, failure: null }, usage: endOfBuild(cache, 'superseded', 0) };
}

/** Null when another build has replaced this one. */
export function finishBuild(cache: CacheRecord | null, ready: BuiltCache): CacheChange | null {
  if (cache?.building?.build !== ready.build) return null;
  return { cache: { ...cache, ready, building: null }, usage: endOfBuild(cache, null, ready.tokenCount) };
}

/** A refused selection leaves no usage event, since it is neither a success nor our failure. */
export function failBuild(
  cache: CacheRecord | null,
  { build, code, message }: Omit<CacheFailure, 'config' | 'documentIds'>,
): CacheChange | null {
  if (cache?.building?.build !== build) return null;
  const { config, documentIds } = cache.building;
  const failure = { build, config, documentIds, code, message };
  const usage = code === 'internal' ? endOfBuild(cache, code, 0) : [];
  return { cache: { ...cache, building: null, failure }, usage };
}

/** Wants a failed build again. Its usage was counted; null when it is not the build that failed last. */
export function retryBuild(
  cache: CacheRecord | null,
  { build, requestId }: Pick<CacheBuild, 'build' | 'requestId'>,
): CacheChange | null {
  if (!cache || cache.building || cache.failure?.build !== build || !cache.failure.documentIds) return null;
  const { config, documentIds } = cache.failure;
  const building = { build, config, documentIds, requestId, operation: null };
  return { cache: { ...cache, building, failure: null }, usage: [] };
}

export function removeCache(cache: CacheRecord | null): CacheChange | null {
  return cache && { cache: null, usage: endOfBuild(cache, 'deleted', 0) };
}

function endOfBuild(cache: CacheRecord | null, code: string | null, tokens: number): UsageEvent[] {
  if (!cache?.building?.operation) return [];
  const { type: operation, startedAtMs, metadata } = cache.building.operation;
  return [
    usageEvent({
      operation,
      startedAtMs,
      tokens,
      userId: cache.ownerId,
      status: code === null ? 'success' : 'error',
      metadata: code === null ? metadata : { ...metadata, error: code },
    }),
  ];
}
