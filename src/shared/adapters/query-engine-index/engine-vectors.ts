import { decodeVector, innerProduct, type VectorSet } from '../../data-set/stored-vectors.js';
import type { CallOptions, VectorIndex } from '../../ports.js';
import type { Redis } from '../../redis/client.js';
import type { ChunkSearch } from './chunk-search.js';
import { measureField } from './read-field.js';

interface Parts {
  readonly client: Redis;
  readonly search: Pick<ChunkSearch, 'nearest'>;
  readonly vectors: VectorSet;
  /** Asks the engine in the caller's turn. */
  readonly inTurn: <Answer>(
    query: () => Promise<Answer>,
    options: CallOptions & { readonly callerId: string },
  ) => Promise<Answer>;
}

/** Finds chunks by the vector index of the engine. */
export function createEngineVectors({ client, search, vectors, inTurn }: Parts): VectorIndex {
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
