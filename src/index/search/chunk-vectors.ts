import type { Mask } from '../masks/working-mask.js';
import type { AppTypes } from '../tables/app.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { KnnCollector } from '../vectors/knn-collector.js';

/** The vectors of chunks, however they are held. */
export interface ChunkVectors {
  /** Computes the numbers that all searches need, once. @returns true if that is done */
  prepare(isTimeLeft: () => boolean): boolean;
  /** Returns a function that computes the inner product with the vector of a slot. */
  similarityTo(vector: Float32Array): (slot: number) => number;
  /** Collects all chunks of the mask's documents that may be among the nearest. @param principal whose mask it is */
  collectNearest(
    vector: Float32Array,
    mask: Mask,
    collector: KnnCollector,
    principal: AppTypes['principal'],
  ): void;
}

/** Reads the vectors that chunks were stored with. */
export function createStoredVectors(chunks: Pick<ChunkTable, 'vectors' | 'count' | 'links'>): ChunkVectors {
  return {
    prepare: () => true,
    similarityTo: (vector) => {
      const { vectors } = chunks;
      return (slot) => vectors?.similarity(vector, slot) ?? Number.NaN;
    },
    collectNearest: (vector, mask, collector) => {
      const { vectors, count, links } = chunks;
      if (!vectors || count === 0) return;
      if (vector.length !== vectors.dimensions) {
        const lengths = `${String(vector.length)} dimensions, the data ${String(vectors.dimensions)}`;
        throw new Error(`the query vector has ${lengths}`);
      }
      const { documents } = mask;
      // A slot without a chunk belongs to document -1, which is in no mask.
      const isAllowed = (slot: number) => documents[links.documentOf(slot)] === 1;
      if (mask.count > 0) vectors.scan(vector, isAllowed, collector);
    },
  };
}
