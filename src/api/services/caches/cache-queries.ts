import { readCachePassages } from '../../../shared/caches/passages.js';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError } from '../../../shared/errors.js';
import type { CacheEngine } from '../../../shared/ports.js';
import type { Accounting } from '../usage-accounting.js';
import { findCache } from './find-cache.js';

export interface CacheQueryRequest {
  readonly ownerId: string;
  readonly name: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly query: string;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export interface CacheAnswer {
  readonly completion: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly finishReason: 'stop' | 'length';
  readonly tokensReused: number;
}

export interface CacheQueryParts {
  readonly caches: CacheStore;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly engine: CacheEngine;
  readonly accounting: Accounting;
  readonly defaultMaxTokens: number;
}

/** Completes a question over the documents of a cache that is ready. @throws NotFoundError, ConflictError */
export function queryCache(parts: CacheQueryParts, request: CacheQueryRequest): Promise<CacheAnswer> {
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

async function answer(parts: CacheQueryParts, request: CacheQueryRequest): Promise<CacheAnswer> {
  const { ownerId, name, query: question, temperature, signal } = request;
  const { ready, building } = await findCache(parts.caches, request);
  if (!ready) throw notReady(name, building !== null);
  const passages = await readCachePassages(parts, {
    ownerId,
    members: ready.members,
    // The limit was checked when the cache was built, and its texts do not change.
    maxCharacters: Infinity,
  });
  const maxTokens = request.maxTokens ?? parts.defaultMaxTokens;
  const options = { callerId: ownerId, maxTokens, temperature, signal };
  let completion = '';
  for await (const event of parts.engine.query(ready.build, { question, passages }, options)) {
    if (event.type === 'text') completion += event.text;
    else {
      const { promptTokens, completionTokens, finishReason, tokensReused } = event;
      return { completion, promptTokens, completionTokens, finishReason, tokensReused };
    }
  }
  throw new Error('the stream of the cache engine ended without its last event');
}

function notReady(name: string, isBuilding: boolean): ConflictError {
  const detail = isBuilding ? `Cache '${name}' is being built` : `Cache '${name}' could not be built`;
  return new ConflictError(detail, { retryAfterSeconds: 2 });
}
