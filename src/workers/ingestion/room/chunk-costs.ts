import type { VectorType } from '../../../shared/data-set/stored-vectors.js';
import type { Embedding } from '../../../shared/models/embedding.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';

/** The costs that every chunk has alike. */
export interface ChunkCosts {
  /** The bytes of a vector. */
  readonly vectorBytes: number;
  /** True if the Query Engine indexes the chunks, for which it keeps a copy of each vector. */
  readonly isIndexed: boolean;
}

interface Parts {
  readonly redis: Redis;
  readonly vectorType: VectorType;
  readonly embedding: Pick<Embedding, 'dimensions'>;
}

/**
 * The data tells both as soon as it has a vector or an index, which may be after this process has started. Before the first
 * vector, the model is asked for one.
 * @throws UnavailableError when its provider is away
 */
export async function chunkCosts({ redis, vectorType, embedding }: Parts): Promise<ChunkCosts> {
  const [dimensions, index] = await redis.hmGet(keys.schema, ['dimensions', 'index']);
  const known = Number(dimensions ?? 0) || (await embedding.dimensions());
  return {
    isIndexed: index != null,
    vectorBytes: known * (vectorType === 'float16' ? 2 : 4),
  };
}
