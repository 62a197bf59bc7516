import type { KnnCollector } from '../vectors/knn-collector.js';
import type { Mask } from '../masks/working-mask.js';

/** The vectors of chunks, however they are held. */
export interface ChunkVectors {
  /** Computes the numbers that all searches need, once. @returns true if that is done */
  prepare(isTimeLeft: () => boolean): boolean;
  /** Returns a function that computes the inner product with the vector of a slot. */
  similarityTo(vector: Float32Array): (slot: number) => number;
  /** Collects all chunks of the mask's documents that may be among the nearest. @param callerId whose mask it is */
  collectNearest(vector: Float32Array, mask: Mask, collector: KnnCollector, callerId: string): void;
}
