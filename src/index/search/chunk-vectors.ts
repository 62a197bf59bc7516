import type { Selection } from '../vectors/selection.js';
import type { Mask } from '../masks/working-mask.js';

/** The vectors of chunks, however they are held. */
export interface ChunkVectors {
  /** Computes what all searches need, once. @returns whether that is done */
  prepare(isTimeLeft: () => boolean): boolean;
  /** Returns a function that computes the inner product with the vector of a slot. */
  similarityTo(vector: Float32Array): (slot: number) => number;
  /** Offers all chunks of the mask's documents that may be among the nearest. @param callerId whose mask it is */
  offerNearest(vector: Float32Array, mask: Mask, selection: Selection, callerId: string): void;
}
