import { RESP_TYPES } from 'redis';
import { createBuiltinEmbedder } from '../../src/shared/adapters/builtin/embedder.js';
import { decodeVector, innerProduct, type VectorType } from '../../src/shared/data-set/stored-vectors.js';
import type { Redis } from '../../src/shared/redis/client.js';
import { keys } from '../../src/shared/redis/keys.js';
import type { Ranker } from '../../src/shared/search/ranking.js';
import { createTermStatistics } from '../../src/shared/term-statistics/term-statistics.js';
import { analyzeQuery } from '../../src/shared/text/list-terms.js';
import { rankCandidates, type RankedCandidate } from '../../test/support/rank-candidates.js';
import { withSections } from './sections.js';

const K = 10;
/** Scores come with the rounding of the engine and, as float16, of the vectors. */
const TOLERANCE: Record<VectorType, number> = { float32: 1e-6, float16: 1e-3 };

interface ChunkWithVector {
  readonly vector: Float32Array;
  readonly terms: Uint8Array;
  readonly section: readonly Uint8Array[];
}

/** Every chunk of the data, to rank all of them. */
export async function readChunks(redis: Redis, vectorType: VectorType): Promise<ChunkWithVector[]> {
  const binary = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  /** By generation, in the order of their numbers. */
  const generations = new Map<string, Omit<ChunkWithVector, 'section'>[]>();
  for await (const page of redis.scanIterator({ MATCH: `${keys.chunkPrefix}*`, COUNT: 1_000 })) {
    const found = await Promise.all(page.map((key) => binary.hmGet(key, ['vector', 'terms'])));
    for (const [i, [vector, terms]] of found.entries()) {
      if (!(vector instanceof Buffer && terms instanceof Buffer)) continue;
      const [, , generation = '', number = ''] = page[i]?.split(':') ?? [];
      const chunks = generations.get(generation) ?? [];
      chunks[Number(number)] = { vector: decodeVector(vector, vectorType), terms };
      generations.set(generation, chunks);
    }
  }
  return [...generations.values()].flatMap((chunks) => {
    const sections = withSections(chunks.map(({ terms }) => terms));
    return chunks.map((chunk, i) => ({ ...chunk, section: sections[i]?.section ?? [] }));
  });
}

/** Share of the ten best chunks among the ten hits, against ranking all; as good as the tenth counts as one of them. */
export async function measureRecall(
  redis: Redis,
  of: {
    readonly chunks: readonly ChunkWithVector[];
    readonly queries: readonly string[];
    readonly owner: string;
    readonly ranker: Ranker;
    readonly vectorType: VectorType;
    /** Scores of the ten hits. */
    readonly ask: (query: string) => Promise<readonly number[]>;
  },
): Promise<number> {
  const { chunks, queries, owner, ranker, vectorType, ask } = of;
  const embedder = createBuiltinEmbedder();
  const statistics = createTermStatistics(redis);
  let found = 0;
  for (const query of queries) {
    const [asked = new Float32Array()] = (await embedder.embedQuery(query)).vectors;
    const all: RankedCandidate[] = chunks.map(({ vector, terms, section }) => ({
      terms,
      section,
      similarity: ranker.ranking === 'lexical' ? Number.NaN : innerProduct(asked, vector),
    }));
    const known = await statistics.read(owner, [...analyzeQuery(query).counts.keys()]);
    const ranked = rankCandidates(ranker, query, { candidates: all, statistics: known });
    const least = ranked.sort().at(-K) ?? 0;
    const scores = await ask(query);
    found += scores.filter((score) => score >= least - TOLERANCE[vectorType]).length;
  }
  return Math.round((found / (K * queries.length)) * 10_000) / 10_000;
}
