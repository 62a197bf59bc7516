import { setTimeout as sleep } from 'node:timers/promises';
import { createWithCallerTags } from '../../access/with-caller-tags.js';
import type { DocumentRecord } from '../../document.js';
import { UnavailableError } from '../../errors.js';
import type { CallOptions, Index } from '../../ports.js';
import { createRedis, type Redis } from '../../redis/client.js';
import { createTurns } from '../../search/turns.js';
import { untilAborted } from '../../until-aborted.js';
import type { SearchEffort } from './chunk-query.js';
import { createChunkSearch } from './chunk-search.js';
import { chunkIndex, documentIndex, type VectorAlgorithm, type VectorSpace } from './definition.js';
import { toIndexUnavailable } from './engine.js';
import type { OnProblem } from './inspection.js';
import { createLifecycle, type Lifecycle } from './lifecycle.js';
import { createListing } from './listing.js';

export type { VectorAlgorithm };

export interface QueryEngineOptions extends Omit<VectorSpace, 'dimensions'> {
  readonly redisUrl: string;
  /** Asked until it answers: a model's dimensions may be known only to its provider. */
  readonly dimensions: () => Promise<number>;
  /**
   * Candidates that a search of an HNSW graph keeps in view: more is slower and nearer to exact. Null compares with every
   * vector, for those that a graph finds too few of.
   */
  readonly efRuntime: number | null;
  readonly timeoutMilliseconds: number;
  /** Chunks from which a FLAT index warns. */
  readonly flatCrowdedAt?: number;
  /** Told the name of the index each time before it is made. @throws when another serves: nothing is made then */
  readonly claim: (name: string) => Promise<void>;
  readonly readRecords: (ids: readonly string[]) => Promise<(DocumentRecord | null)[]>;
  /** Told of what keeps documents from being found; `fields.level` is `warn` or `error`. */
  readonly onProblem?: OnProblem;
}

/** Questions of several callers that the engine has before it: few enough to stand before another's. */
const MAX_AT_ONCE = 8;
/** Questions of one caller while nobody else asks: enough to keep the engine busy. */
const MAX_ALONE = 32;
/** Questions that wait in a process, of all callers together. */
const MAX_WAITING = 1_000;

interface Asked extends CallOptions {
  readonly callerId: string;
}

/** What a provider gets to tell its dimensions before the index is opened without: a start must not hang with it. */
const PATIENCE_MILLISECONDS = 3_000;

/**
 * Asks the Query Engine of Redis 8 or Redis Stack, which indexes the hashes itself: one index for all processes. Makes
 * what is missing; `ready` once the engine has taken in every hash.
 */
export async function createQueryEngineIndex(options: QueryEngineOptions): Promise<Index> {
  const { onProblem = () => undefined } = options;
  const client = createRedis(options.redisUrl, { failFast: true, onError: () => undefined });
  const chunks = onceDone(async () =>
    chunkIndex({ ...options, dimensions: await options.dimensions() }, options.flatCrowdedAt),
  );
  // Each time anew: a process whose index was replaced must not make it again.
  const claimed = async () => {
    const definition = await chunks();
    await options.claim(definition.name);
    return definition;
  };
  await open(client, claimed, onProblem);
  const lifecycle = createLifecycle({
    client,
    onProblem,
    definitions: async () => [await claimed(), documentIndex],
  });
  const { search, listing } = createQueries(client, options, async () => (await chunks()).alias);
  const ask = createAskInTurn(lifecycle);
  return {
    name: 'query-engine',
    hasCheapPostings: false,
    search: (request) => ask(() => search.nearest(request), request),
    searchTerms: (request) => ask(() => search.byTerms(request), request),
    list: (request) => ask(() => listing.list(request), request),
    count: (request) => ask(() => listing.count(request), request),
    state: () => Promise.resolve(lifecycle.state),
    close: () => {
      lifecycle.close();
      client.destroy();
      return Promise.resolve();
    },
  };
}

/** @param alias the name by which the index over chunks is asked */
function createQueries(client: Redis, options: QueryEngineOptions, alias: () => Promise<string>) {
  const { vectors, algorithm, efRuntime, timeoutMilliseconds } = options;
  const withCallerTags = createWithCallerTags(client);
  const search = createChunkSearch(client, {
    withCallerTags,
    alias,
    vectorType: vectors.type,
    timeoutMilliseconds,
    effort: effortOf(algorithm, efRuntime),
  });
  return { search, listing: createListing(client, { ...options, withCallerTags }) };
}

/** Asks whole indexes, each question in its caller's turn. */
function createAskInTurn(lifecycle: Lifecycle) {
  const turns = createTurns(MAX_AT_ONCE, {
    maxAlone: MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'index',
  });
  // The engine goes on with a question whose asker has left, until its own time limit, and so does its turn.
  return <Answer>(query: () => Promise<Answer>, { callerId: by, signal }: Asked): Promise<Answer> =>
    untilAborted(
      turns.run(() => lifecycle.ask(query), { by, signal }),
      signal,
    );
}

/** Connects, and claims the index if that takes no long time: the lifecycle asks again. */
async function open(client: Redis, claim: () => Promise<unknown>, onProblem: OnProblem): Promise<void> {
  try {
    await client.connect();
    const isClaimed = await Promise.race([
      claim().then(() => true),
      sleep(PATIENCE_MILLISECONDS, false, { ref: false }),
    ]);
    if (!isClaimed) onProblem('the index waits for the dimensions of the vectors', { level: 'warn' });
  } catch (error) {
    if (toIndexUnavailable(error) instanceof UnavailableError) return;
    client.destroy();
    throw error;
  }
}

function effortOf(algorithm: VectorAlgorithm, efRuntime: number | null): SearchEffort {
  if (algorithm.name === 'flat') return { type: 'flat' };
  return efRuntime === null ? { type: 'all' } : { type: 'graph', efRuntime };
}

/** Asks until it is answered, and then remembers the answer. */
function onceDone<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let known: { readonly value: Value } | null = null;
  return async () => (known ??= { value: await ask() }).value;
}
