import { RESP_TYPES } from 'redis';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin-embedder.js';
import { accessToken } from '../../src/shared/filter-tokens.js';
import { keys } from '../../src/shared/keys.js';
import { createRedis, type Redis } from '../../src/shared/redis.js';
import { decodeVector, encodeVector, type VectorType } from '../../src/shared/vectors.js';

/** As many candidates as the service asks for at k = 10, and its default effort. */
export const CANDIDATES = 400;
const EFFORT = 200;

export type RawSearch = Awaited<ReturnType<typeof createRawSearch>>;

/** FT.SEARCH as the service sends it, without the service. */
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
  const embedder = createBuiltinEmbedder();
  const [first] = clients;
  const names = (await first?.ft._list()) ?? [];
  const index = names.find((name) => name.startsWith('quire:chunks:')) ?? '';
  const effort = options.algorithm === 'hnsw' ? ` EF_RUNTIME ${String(EFFORT)}` : '';
  const access = `@tags:{${accessToken(options.owner)}}`;
  const embed = async (query: string): Promise<Float32Array> => {
    const { vectors } = await embedder.embedQuery(query);
    return vectors[0] ?? new Float32Array();
  };
  const send = async (client: number, query: string, limit: number) => {
    const vector = await embed(query);
    return asking[client]?.sendCommand([
      ...['FT.SEARCH', index, `(${access})=>[KNN ${String(limit)} @vector $vector${effort} AS distance]`],
      ...['RETURN', '1', 'terms', 'SORTBY', 'distance', 'LIMIT', '0', String(limit)],
      ...['PARAMS', '2', 'vector', encodeVector(vector, options.vectorType)],
      ...['TIMEOUT', '10000', 'DIALECT', '2'],
    ]);
  };
  return {
    index,
    embed,
    ask: (client: number, query: string) => send(client, query, CANDIDATES),
    /** Keys of the nearest chunks. */
    nearest: async (query: string, limit: number): Promise<string[]> => {
      // @NOTE the layout of FT.SEARCH in RESP3
      const { results } = (await send(0, query, limit)) as unknown as { results: { id: Buffer }[] };
      return results.map(({ id }) => id.toString());
    },
    close: () => {
      for (const client of clients) client.destroy();
    },
  };
}

/**
 * Share of the ten nearest chunks among the `limit` that the engine answers with, against a scan of all vectors; as good
 * as a tie counts. The service asks for 400 with lexical ranking, for little more than k with semantic.
 */
export async function measureRecall(
  redis: Redis,
  of: { raw: RawSearch; queries: readonly string[]; vectorType: VectorType; limit: number },
): Promise<number> {
  const { raw, queries, vectorType, limit } = of;
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const vectors = new Map<string, Float32Array>();
  for await (const page of redis.scanIterator({ MATCH: `${keys.chunkPrefix}*`, COUNT: 1_000 })) {
    const found = await Promise.all(page.map((key) => binary.hGet(key, 'vector')));
    page.forEach((key, i) => {
      const bytes = found[i];
      if (bytes instanceof Buffer) vectors.set(key, decodeVector(bytes, vectorType));
    });
  }
  let hits = 0;
  for (const query of queries) {
    const asked = await raw.embed(query);
    const terms = [...asked.keys()].filter((i) => asked[i] !== 0);
    const similarity = (vector: Float32Array) =>
      terms.reduce((sum, i) => sum + (asked[i] ?? 0) * (vector[i] ?? 0), 0);
    const scores = new Map([...vectors].map(([key, vector]) => [key, similarity(vector)]));
    const least = [...scores.values()].toSorted((a, b) => b - a)[9] ?? 0;
    const found = await raw.nearest(query, limit);
    hits += Math.min(10, found.filter((key) => (scores.get(key) ?? -1) >= least - 1e-6).length);
  }
  return Math.round((hits / (10 * queries.length)) * 10_000) / 10_000;
}
