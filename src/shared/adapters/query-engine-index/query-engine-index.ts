import { setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '../../access/access.js';
import { createWithCallerTags } from '../../access/with-caller-tags.js';
import { decodeVector, innerProduct, type VectorSet } from '../../data-set/stored-vectors.js';
import type { DocumentRecord } from '../../document.js';
import { UnavailableError } from '../../errors.js';
import { createTurns } from '../../fair-scheduling/turns.js';
import type { CallOptions, Index, OnProblem, VectorIndex } from '../../ports.js';
import { createRedis, type Redis } from '../../redis/client.js';
import { untilAborted } from '../../tools/aborting.js';
import { createChunkSearch, type EffortOptions, type ChunkSearch } from './chunk-search.js';
import { chunkIndex, documentIndex, type VectorAlgorithm, type VectorSpace } from './definition.js';
import { toIndexUnavailable } from './engine.js';
import { createLifecycle, type Lifecycle } from './lifecycle.js';
import { createListing } from './listing.js';
import { createAreOwnersTagged } from './owner-tags.js';
import { measureField } from './read-field.js';
import { createEngineWords, type ReadStatistics } from './engine-words.js';

export interface QueryEngineOptions extends Omit<VectorSpace, 'dimensions'> {
  readonly redisUrl: string;
  /** Called until it succeeds: perhaps only the provider knows the dimensions of a model. */
  readonly dimensions: () => Promise<number>;
  /**
   * Candidates that a search of an HNSW graph keeps in view; more is slower and nearer to exact. Null compares with every
   * vector, for vectors that a graph finds too few of.
   */
  readonly efRuntime: number | null;
  readonly timeoutMilliseconds: number;
  /** A FLAT index warns from this many chunks on. */
  readonly flatCrowdedAt?: number;
  /** Called with the name of the index before each creation. @throws when another index serves; then nothing is created */
  readonly claim: (name: string) => Promise<void>;
  /** Reads as many of the first of these as are wise to hold at once; at least one. */
  readonly readRecords: (ids: readonly string[]) => Promise<(DocumentRecord | null)[]>;
  readonly readStatistics: ReadStatistics;
  /** Called with problems that keep documents from being found; `fields.level` is `warn` or `error`. */
  readonly onProblem?: OnProblem;
}

/** Questions that the engine has before it when several callers ask: few, so that none waits long behind another's. */
const MAX_AT_ONCE = 8;
/** Questions of a caller who is alone: enough to keep the engine busy. */
const MAX_ALONE = 32;
/** Questions of all callers that may wait in a process. */
const MAX_WAITING = 1_000;

interface AskOptions extends CallOptions {
  readonly principal: Principal;
}

/** The start waits this long for a provider to tell its dimensions, so that it does not hang with the provider. */
const PATIENCE_MILLISECONDS = 3_000;

/**
 * Makes an index that uses the Query Engine of Redis 8 or Redis Stack, which indexes the hashes itself, once for all
 * processes. It creates missing indexes and is `ready` once the engine has taken in every hash.
 */
export async function createQueryEngineIndex(options: QueryEngineOptions): Promise<Index> {
  const { onProblem = () => undefined } = options;
  const client = createRedis(options.redisUrl, { failFast: true, onError: () => undefined });
  const chunks = onceDone(async () =>
    chunkIndex({ ...options, dimensions: await options.dimensions() }, options.flatCrowdedAt),
  );
  // The index is claimed each time, since a process whose index was replaced must not create it again.
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
  const ask = createAskEngine(lifecycle);
  const { readStatistics } = options;
  return {
    name: 'query-engine',
    vectors: createEngineVectors({ client, search, vectors: options.vectors, inTurn: ask }),
    words: createEngineWords({ client, search, readStatistics, inTurn: ask }),
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
  const areOwnersTagged = createAreOwnersTagged(client);
  const search = createChunkSearch(client, {
    withCallerTags,
    areOwnersTagged,
    alias,
    vectorType: vectors.type,
    timeoutMilliseconds,
    effort: effortOf(algorithm, efRuntime),
  });
  return { search, listing: createListing(client, { ...options, withCallerTags, areOwnersTagged }) };
}

/** Asks whole indexes, each question in its caller's turn. */
function createAskEngine(lifecycle: Lifecycle) {
  const turns = createTurns(MAX_AT_ONCE, {
    maxAlone: MAX_ALONE,
    maxWaiting: MAX_WAITING,
    name: 'index',
  });
  // A question whose asker has left runs on in the engine until its time limit, and keeps its turn that long.
  return <Answer>(query: () => Promise<Answer>, { principal, signal }: AskOptions): Promise<Answer> =>
    untilAborted(
      turns.run(() => lifecycle.ask(query), { by: principal.id, signal }),
      signal,
    );
}

/** Connects, and claims the index if that takes little time; the lifecycle tries again otherwise. */
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

function effortOf(algorithm: VectorAlgorithm, efRuntime: number | null): EffortOptions {
  if (algorithm.name === 'flat') return { type: 'flat' };
  return efRuntime === null ? { type: 'all' } : { type: 'graph', efRuntime };
}

/** Calls `ask` until it succeeds, and remembers the answer. */
function onceDone<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let known: { readonly value: Value } | null = null;
  return async () => (known ??= { value: await ask() }).value;
}

interface Parts {
  readonly client: Redis;
  readonly search: Pick<ChunkSearch, 'nearest'>;
  readonly vectors: VectorSet;
  /** Asks the engine in the caller's turn. */
  readonly inTurn: <Answer>(
    query: () => Promise<Answer>,
    options: CallOptions & { readonly principal: Principal },
  ) => Promise<Answer>;
}

/** Finds chunks by the vector index of the engine. */
function createEngineVectors({ client, search, vectors, inTurn }: Parts): VectorIndex {
  return {
    search: async (request) => {
      const found = await inTurn(() => search.nearest(request), request);
      return found.map(({ documentId, generation, number, similarity }) => {
        return { documentId, generation, number, score: similarity };
      });
    },
    similarities: ({ vector, chunks, signal }) =>
      measureField(client, { chunks, field: vectors.field, signal }, (bytes) =>
        innerProduct(vector, decodeVector(bytes, vectors.type)),
      ),
  };
}
