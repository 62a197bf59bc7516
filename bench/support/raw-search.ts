import { RESP_TYPES } from 'redis';
import { callerTags } from '../../src/shared/access/access.js';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import {
  nearestQuery,
  termsQuery,
  type ChunkQuery,
} from '../../src/shared/adapters/query-engine-index/chunk-query.js';
import { compileClause } from '../../src/shared/adapters/query-engine-index/clause.js';
import { planWordPasses } from '../../src/shared/adapters/query-engine-index/engine-words.js';
import type { VectorType } from '../../src/shared/data-set/stored-vectors.js';
import { createRedis } from '../../src/shared/redis/client.js';
import type { Ranking } from '../../src/shared/search/ranking.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { analyzeQuery } from '../../src/shared/text/list-terms.js';

/** The page that a search of the service asks an index for by default. */
const PAGE = { limit: 26, minScore: 0 };

/** FT.SEARCH as the service sends it for ten hits, without the service. */
export async function createRawSearch(options: {
  readonly redisUrl: string;
  readonly owner: string;
  readonly connections: number;
  readonly algorithm: string;
  readonly vectorType: VectorType;
}) {
  const open = async () => {
    const client = createRedis(options.redisUrl, { failFast: true, onError: console.error });
    await client.connect();
    return client;
  };
  const clients = await Promise.all(Array.from({ length: options.connections }, open));
  const asking = clients.map((client) => client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }));
  const [first = await open()] = clients;
  const index = (await first.ft._list()).find((name) => name.startsWith('quire:chunks:')) ?? '';
  const embedder = createBuiltinEmbedder();
  const statistics = createTermStatistics(first);
  const within = compileClause(callerTags({ id: options.owner }, []), null)?.text ?? '';

  const compose: Record<Exclude<Ranking, 'hybrid'>, (query: string) => Promise<ChunkQuery>> = {
    lexical: async (query) => {
      const known = await statistics.read(options.owner, [...analyzeQuery(query).counts.keys()]);
      const [first] = planWordPasses({ query, ...PAGE }, known);
      if (!first) throw new Error(`There is no term in the query ${query}.`);
      return termsQuery(within, first);
    },
    semantic: async (query) => {
      const { vectors } = await embedder.embedQuery(query);
      return nearestQuery(
        within,
        {
          vector: vectors[0] ?? new Float32Array(),
          limit: PAGE.limit,
        },
        { vectorType: options.vectorType, effort: { type: options.algorithm === 'hnsw' ? 'all' : 'flat' } },
      );
    },
  };
  return {
    index,
    /** Queries as the engine gets them: what is put together before is not timed. */
    prepare: async (ranking: keyof typeof compose, queries: readonly string[]) => {
      const prepared = await Promise.all(queries.map(compose[ranking]));
      return (client: number, round: number) =>
        asking[client]?.sendCommand([
          'FT.SEARCH',
          index,
          ...(prepared[round % prepared.length] ?? []),
          'TIMEOUT',
          '10000',
          'DIALECT',
          '2',
        ]);
    },
    close: () => {
      for (const client of clients) client.destroy();
    },
  };
}
