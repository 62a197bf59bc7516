import { setTimeout as sleep } from 'node:timers/promises';
import { createAskAs } from '../audiences.js';
import type { DocumentRecord } from '../document.js';
import type { CallOptions, Index } from '../ports.js';
import { UnavailableError } from '../errors.js';
import { createRedis } from '../redis.js';
import { createTurns } from '../turns.js';
import type { SearchEffort } from './query-engine-index/chunk-query.js';
import { createChunkSearch } from './query-engine-index/chunk-search.js';
import {
  chunkIndex,
  documentIndex,
  type VectorAlgorithm,
  type VectorSpace,
} from './query-engine-index/definition.js';
import { toIndexUnavailable } from './query-engine-index/engine.js';
import { createLifecycle, type OnProblem } from './query-engine-index/lifecycle.js';
import { createListing } from './query-engine-index/listing.js';

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
const MOST_AT_ONCE = 8;
/** Of one caller, while nobody else asks: enough to keep the engine busy. */
const MOST_ALONE = 32;
/** Of a process, of all callers together. */
const MOST_WAITING = 1_000;

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
  const { vectors, algorithm, onProblem = () => undefined } = options;
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
  try {
    await client.connect();
    // The lifecycle below asks again.
    const isClaimed = await Promise.race([
      claimed().then(() => true),
      sleep(PATIENCE_MILLISECONDS, false, { ref: false }),
    ]);
    if (!isClaimed) onProblem('the index waits for the dimensions of the vectors', { level: 'warn' });
  } catch (error) {
    if (!(toIndexUnavailable(error) instanceof UnavailableError)) {
      client.destroy();
      throw error;
    }
  }
  const lifecycle = createLifecycle({
    ...{ client, onProblem },
    definitions: async () => [await claimed(), documentIndex],
  });
  const askAs = createAskAs(client);
  const chunkSearch = createChunkSearch(client, {
    askAs,
    alias: async () => (await chunks()).alias,
    ...{ vectorType: vectors.type, timeoutMilliseconds: options.timeoutMilliseconds },
    effort: effortOf(algorithm, options.efRuntime),
  });
  const listing = createListing(client, { ...options, askAs });
  const turns = createTurns(MOST_AT_ONCE, {
    mostAlone: MOST_ALONE,
    mostWaiting: MOST_WAITING,
    name: 'index',
  });
  // The engine goes on with a question whose asker has left, and so does its turn.
  const ask = <Answer>(query: () => Promise<Answer>, { callerId: by, signal }: Asked) =>
    untilAborted(
      turns.run(() => lifecycle.ask(query), { by, signal }),
      signal,
    );
  return {
    name: 'query-engine',
    seeksAllWords: false,
    search: (request) => ask(() => chunkSearch.nearest(request), request),
    searchWords: (request) => ask(() => chunkSearch.byWords(request), request),
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

function effortOf(algorithm: VectorAlgorithm, efRuntime: number | null): SearchEffort {
  if (algorithm.name === 'flat') return { type: 'flat' };
  return efRuntime === null ? { type: 'all' } : { type: 'graph', efRuntime };
}

/** Asks until it is answered, and then remembers the answer. */
function onceDone<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let known: { readonly value: Value } | null = null;
  return async () => (known ??= { value: await ask() }).value;
}

/** The engine ends a query at its own time limit; whoever asked need not wait for that. */
async function untilAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!signal) return answer;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      // @NOTE a reason is whatever the caller aborted with; it goes back as it came
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([answer, aborted]);
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
    answer.catch(() => undefined);
  }
}
