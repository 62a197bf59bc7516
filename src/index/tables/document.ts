import type { MatchableDocument } from '../../shared/document.js';
import type { AccessClass } from './access-classes.js';
import type { Partition } from './partitions.js';

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
  /** The name of its file that its chunks are found by; see `LoadedChunks`. */
  readonly named: string | null | undefined;
  /** The slot of its first chunk, from which the chunk table leads to the others; -1 when it has none. */
  readonly firstChunk: number;
}

/** Chunks of a generation that were loaded and belong to no document of the mirror yet. */
export interface LoadedChunks {
  readonly attempt: string;
  /**
   * The name of the file whose terms they hold, null for none; undefined while the document is being renamed, or otherwise
   * changed, when they may hold either.
   */
  readonly named?: string | null | undefined;
  /** Orders the chunks among others of the same score, see `tieKey`. */
  readonly tie: number;
  /** Their slots, in the order of the chunks. */
  readonly slots: number[];
}

/**
 * Whether chunks are those that a record publishes, with the terms of its file's name. While the record is being changed,
 * they stay as they are.
 */
export function isServing(
  chunks: Pick<MirroredDocument, 'attempt' | 'named'> | Pick<LoadedChunks, 'attempt' | 'named'> | undefined,
  published: Pick<LoadedChunks, 'attempt' | 'named'> | null,
): boolean {
  if (!chunks || chunks.attempt !== published?.attempt) return false;
  return published.named === undefined || published.named === chunks.named;
}

export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
