import { chunkIndex } from '../../src/shared/adapters/query-engine-index/definition.js';
import type { Index } from '../../src/shared/ports.js';
import { createRedis } from '../../src/shared/redis/client.js';
import { openIndexData, unit } from '../contracts/index-data.js';
import { startQueryEngine, type QueryEngine } from './query-engine-server.js';
import { openQueryEngineIndex, type QueryEngineTestOptions } from './query-engine.js';
import type { TestRedis } from './redis.js';

const ALL = 1_000_000;

/** Servers, indexes and connections of a test; all are closed together. */
export function createQueryEngineBench(engine: QueryEngine) {
  const closing: (() => Promise<void> | void)[] = [];
  return {
    /** @param more further arguments of the module and of the server */
    start: async (
      more: { readonly module?: readonly string[]; readonly server?: readonly string[] } = {},
    ): Promise<TestRedis> => {
      const server = ['--appendfsync', 'everysec', ...(more.server ?? [])];
      const redis = await startQueryEngine(engine, { ...more, server });
      closing.push(() => redis.stop());
      return redis;
    },
    connect: async ({ url }: TestRedis) => {
      const client = createRedis(url, { failFast: true, onError: () => undefined });
      await client.connect();
      closing.push(() => {
        client.destroy();
      });
      return client;
    },
    /** An index, and all that it tells of. */
    open: async ({ url }: TestRedis, options: QueryEngineTestOptions = {}) => {
      const problems: [string, Readonly<Record<string, unknown>>][] = [];
      const index = await openQueryEngineIndex(url, {
        onProblem: (...problem) => problems.push(problem),
        ...options,
      });
      closing.push(() => index.close());
      return { index, problems };
    },
    dataOf: async ({ url }: TestRedis) => {
      const data = await openIndexData(url);
      closing.push(() => {
        data.redis.destroy();
      });
      return data;
    },
    closeAll: async (): Promise<void> => {
      for (const close of closing.splice(0).reverse()) await close();
    },
  };
}

export const isReady = (index: Index) => async () => (await index.state()) === 'ready';

/** Chunks that an index over four dimensions has of `owner`, whose documents it lists and counts. */
export const chunkCount = async (index: Index): Promise<number> =>
  (
    await index.vectors.search({
      vector: unit([1, 0, 0, 0]),
      principal: { id: 'owner' },
      filter: null,
      limit: ALL,
    })
  ).length;
export const documentCount = (index: Index): Promise<number> =>
  index.count({ principal: { id: 'owner' }, filter: null });
export const listCount = async (index: Index): Promise<number> =>
  (await index.list({ principal: { id: 'owner' }, filter: null, skip: 0, limit: ALL })).ids.length;

/** The space that `open` opens, unless told otherwise. */
export const SPACE: Parameters<typeof chunkIndex>[0] = {
  model: 'test',
  dimensions: 4,
  vectors: { field: 'vector', type: 'float32' },
  algorithm: { name: 'flat' },
};
export const CHUNKS = chunkIndex(SPACE);
