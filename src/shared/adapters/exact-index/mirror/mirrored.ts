import type { MatchableDocument } from '../../../document.js';
import type { AccessClass } from '../tables/access-classes.js';
import type { Partition } from '../tables/partitions.js';

/**
 * A document as the mirror holds it, replaced whole when its record changes. It shares its access lists and its contents with
 * other documents that have the same ones, because there may be a hundred thousand documents.
 */
export interface MirroredDocument extends MatchableDocument {
  /** ISO 8601 */
  readonly updatedAt: string;
  /** The number of the document within the mirror. It is used again after the document is gone. */
  readonly slot: number;
  readonly access: AccessClass;
  readonly partition: Partition;
  /** The part of the published generation's id after the document's id; null when nothing is published. */
  readonly attempt: string | null;
  /** The slot of its first chunk, from which the chunk table leads to the others; -1 when it has none. */
  readonly firstChunk: number;
}

/** Chunks of a generation that were loaded and belong to no document of the mirror yet. */
export interface LoadedChunks {
  readonly attempt: string;
  /** Orders the chunks among others of the same score, see `tieKey`. */
  readonly tie: number;
  /** Their slots, in the order of the chunks. */
  readonly slots: number[];
}

export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
