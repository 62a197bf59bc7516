import { noteDocuments } from '../../../shared/audit/notes.js';
import type { Principal } from '../../../shared/access/access.js';
import type { SharedViews } from '../../../shared/access/sharing.js';
import { fenceOfCache, type CacheEngines } from '../../../shared/caches/cache-engines.js';
import type { BuiltCache } from '../../../shared/caches/cache-record.js';
import {
  readCachePassages,
  heldTexts,
  startRenewal,
  type CachePassage,
} from '../../../shared/caches/passages.js';
import type { CacheStore } from '../../../shared/caches/cache-store.js';
import type { Chunks } from '../../../shared/chunks/chunks.js';
import type { Records } from '../../../shared/documents/records.js';
import { ConflictError, UnavailableError } from '../../../shared/errors.js';
import type { FinishReason } from '../../../shared/models/finish-reason.js';
import { fitEarlier } from '../../../shared/models/prompt.js';
import type { CacheEngine, EarlierMessage } from '../../../shared/ports.js';
import { keys } from '../../../shared/redis/keys.js';
import type { Sources } from '../retrieval/sources.js';
import type { AccountedRequest, Accounting } from '../usage-accounting.js';
import type { CacheBuildParts } from './cache-builds.js';
import { findCacheSources } from './cache-sources.js';
import { findCache } from './find-cache.js';
import type { RenewalPause } from './renewal-pause.js';

export interface CacheQueryRequest {
  readonly ownerId: string;
  readonly principal: Principal;
  /** The address of the service, without a slash at its end. */
  readonly baseUrl: string;
  readonly name: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
  readonly query: string;
  /** The conversation that the question goes on with, oldest first. */
  readonly earlier?: readonly EarlierMessage[];
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
}

export interface CacheAnswerEnd extends Sources {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly finishReason: FinishReason;
  readonly tokensReused: number;
}

export interface CacheAnswer extends CacheAnswerEnd {
  readonly completion: string;
}

export type CacheAnswerEvent =
  { readonly type: 'token'; readonly text: string } | ({ readonly type: 'end' } & CacheAnswerEnd);

export interface CacheQueryParts {
  readonly caches: CacheStore;
  readonly records: Records;
  readonly chunks: Chunks;
  readonly engines: CacheEngines;
  readonly accounting: Accounting;
  readonly defaultMaxTokens: number;
  readonly renewals: RenewalPause;
  readonly sharedViews: Pick<SharedViews, 'predicateOf'>;
}

/** Completes a question over the documents of a cache that is ready. @throws NotFoundError, ConflictError */
export function queryCache(
  parts: CacheQueryParts & CacheBuildParts,
  request: CacheQueryRequest,
): Promise<CacheAnswer> {
  return parts.accounting.run(accounted(request), async () => {
    let completion = '';
    for await (const event of answer(parts, request)) {
      if (event.type === 'token') completion += event.text;
      else {
        const { type: _, ...end } = event;
        return { result: { completion, ...end }, tokens: tokensOf(end) };
      }
    }
    throw new Error('the stream of the cache engine ended without its last event');
  });
}

/** The same, piece by piece. */
export function streamCacheAnswer(
  parts: CacheQueryParts & CacheBuildParts,
  request: CacheQueryRequest,
): AsyncIterable<CacheAnswerEvent> {
  return parts.accounting.stream(accounted(request), answer(parts, request), (event) =>
    event.type === 'end' ? tokensOf(event) : null,
  );
}

function accounted({
  ownerId: userId,
  name,
  query,
  startedAtMs,
  signal,
}: CacheQueryRequest): AccountedRequest {
  return { operation: 'query_cache', userId, startedAtMs, signal, metadata: { query, cache: name } };
}

const tokensOf = ({ promptTokens, completionTokens }: CacheAnswerEnd) => promptTokens + completionTokens;

async function* answer(
  parts: CacheQueryParts & CacheBuildParts,
  request: CacheQueryRequest,
): AsyncGenerator<CacheAnswerEvent> {
  const current = await readCurrent(parts, request);
  let hasBegun = false;
  try {
    for await (const event of answerFrom(parts, request, current)) {
      hasBegun = true;
      yield event;
    }
    return;
  } catch (error) {
    const mayPass = !hasBegun && error instanceof UnavailableError;
    if (!mayPass || !(await isOtherModel(parts, current.ready, request))) throw error;
  }
  await renewAndWait(parts, request);
  yield* answerFrom(parts, request, await readCurrent(parts, request));
}

/** Tells whether the file of the model that holds a cache was replaced, or is gone. */
async function isOtherModel(
  { engines }: CacheQueryParts,
  { config }: BuiltCache,
  { ownerId, name, signal }: CacheQueryRequest,
): Promise<boolean> {
  const { engine, ggufFile } = config;
  if (engine.name === 'prompt') return false;
  const now = await engines.choose(ggufFile, { ownerId, name, engine }, { signal });
  return now.name === 'prompt' || now.model !== engine.model;
}

async function* answerFrom(
  parts: CacheQueryParts & CacheBuildParts,
  request: CacheQueryRequest,
  { ready, passages }: CurrentCache,
): AsyncGenerator<CacheAnswerEvent> {
  const { ownerId, name, temperature, signal } = request;
  const engine = parts.engines.of(ready.config.engine);
  const earlier = fitEarlier(request.earlier ?? [], engine.contextWindow - ready.tokenCount);
  const fence = fenceOfCache(ready.config.engine, passages);
  const prompt = { question: request.query, earlier, passages, fence };
  const maxTokens = request.maxTokens ?? parts.defaultMaxTokens;
  const options = { callerId: ownerId, maxTokens, temperature, signal };
  let text = '';
  for await (const event of engine.query({ ownerId, name, build: ready.build }, prompt, options)) {
    if (event.type === 'text') {
      text += event.text;
      yield { type: 'token', text: event.text };
    } else {
      const { promptTokens, completionTokens, finishReason, tokensReused, quotes } = event;
      if (hasLostState(engine, ready, tokensReused) && parts.renewals.mayBegin(`${ownerId}\n${name}`))
        await renew(parts, request);
      const reader = { ...request, shared: ready.config.shared };
      const found = await findCacheSources(parts, reader, { text, quotes, passages });
      yield { type: 'end', promptTokens, completionTokens, finishReason, tokensReused, ...found };
    }
  }
}

/**
 * Tells whether a model's state is lost: it may have been removed for room, or belong to a model file that is another one
 * now.
 */
function hasLostState({ name }: CacheEngine, { tokenCount }: BuiltCache, tokensReused: number): boolean {
  return name === 'llama' && tokensReused < tokenCount / 2;
}

interface CurrentCache {
  readonly ready: BuiltCache;
  readonly passages: readonly CachePassage[];
}

/** The number of times that texts may go while the cache is built without those before. */
const MAX_RENEWALS = 3;

/**
 * Reads a cache with the texts that its owner may read now. A cache whose state a model made of other texts, too, is built
 * anew first.
 * @throws NotFoundError; ConflictError when the cache is not ready in time
 */
async function readCurrent(
  parts: CacheQueryParts & CacheBuildParts,
  request: CacheQueryRequest,
): Promise<CurrentCache> {
  const { principal, name } = request;
  for (let renewals = 0; ; renewals += 1) {
    const { ready, building } = await findCache(parts.caches, request);
    if (!ready) throw notReady(name, building !== null);
    // The limit was checked when the cache was built, and its texts do not change.
    const { shared } = ready.config;
    const findUsable = () => parts.sharedViews.predicateOf({ principal, shared });
    const ownerId = principal.id;
    const texts = { ownerId, findUsable, members: ready.members, maxCharacters: Infinity };
    const passages = await readCachePassages(parts, texts);
    const isCurrent =
      ready.config.engine.name === 'prompt' || passages.length === 0 || passages.length === heldTexts(ready);
    if (isCurrent) {
      noteDocuments(new Set(passages.map(({ documentId }) => documentId)));
      return { ready, passages };
    }
    if (renewals === MAX_RENEWALS) throw notReady(name, true);
    await renewAndWait(parts, request);
  }
}

const renew = ({ caches, jobs, logger }: CacheBuildParts, { ownerId, name }: CacheQueryRequest) =>
  startRenewal({ caches, jobs }, { ownerId, name, requestId: 'query' }).catch((error: unknown) => {
    // The answer is there; the sweep finds the cache, too.
    logger.warn({ err: error }, 'renewal of a cache not queued');
  });

async function renewAndWait(
  parts: CacheBuildParts,
  { ownerId, name, signal }: CacheQueryRequest,
): Promise<void> {
  const { caches, jobs, waiter, waitSeconds } = parts;
  const started = await startRenewal({ caches, jobs }, { ownerId, name, requestId: 'query' });
  if (!started?.building) return;
  await waiter.waitFor({
    id: keys.cache(ownerId, name),
    read: () => caches.readRevision(ownerId, name),
    isDone: (revision) => revision !== started.revision,
    milliseconds: waitSeconds * 1_000,
    signal,
  });
  const cache = await caches.read(ownerId, name);
  if (cache?.building) throw notReady(name, true);
  if (cache?.failure) throw notReady(name, false);
}

function notReady(name: string, isBuilding: boolean): ConflictError {
  const detail = isBuilding ? `Cache '${name}' is being built` : `Cache '${name}' could not be built`;
  return new ConflictError(detail, { retryAfterSeconds: 2 });
}
