import type { DataSet } from '../../../shared/data-set/data-set.js';
import type { Embedding } from '../../../shared/models/embedding.js';
import type { Redis } from '../../../shared/redis/client.js';
import { keys } from '../../../shared/redis/keys.js';
import type { Settings } from '../../../shared/settings/schema.js';

/** What is the same for every chunk. */
export interface ChunkCosts {
  /** The bytes of a vector. */
  readonly vectorBytes: number;
  /** Whether the Query Engine indexes the chunks, for which it keeps a copy of each vector. */
  readonly isIndexed: boolean;
}

/** Assumed for a model with unknown dimensions until its first vector. */
const LIKELY_DIMENSIONS = 1_536;

interface Parts {
  readonly settings: Settings;
  readonly redis: Redis;
  readonly dataSet: DataSet;
  readonly embedding: Pick<Embedding, 'dimensions'>;
  readonly isEmbeddingRemote: boolean;
}

/** An API that started after this process may have made the index, so that the data set as it was read then does not tell. */
export async function chunkCosts(parts: Parts): Promise<ChunkCosts> {
  const { settings, redis, dataSet, embedding, isEmbeddingRemote } = parts;
  const { dimensions, vectorType } = settings.embedding;
  const unknown = isEmbeddingRemote ? dimensions || LIKELY_DIMENSIONS : await embedding.dimensions();
  return {
    isIndexed: (await redis.hExists(keys.schema, 'index')) === 1,
    vectorBytes: (dataSet.dimensions ?? unknown) * (vectorType === 'float16' ? 2 : 4),
  };
}
