import type { AccessLists } from '../../../access/access.js';
import type { MatchableDocument } from '../../../document.js';

/** Who may read: shared by all documents with the same lists, so that it is decided once for all of them. */
export interface AccessClass {
  readonly id: number;
  readonly key: string;
  readonly lists: AccessLists;
}

/**
 * A document as the mirror holds it, replaced whole when its record changes. Its lists are those of its class, and its
 * contents are shared with documents of the same looks: there may be a hundred thousand.
 */
export interface MirroredDocument extends MatchableDocument {
  /** Number of the document within this mirror; used again after it is gone. */
  readonly slot: number;
  readonly access: AccessClass;
  /** The part of the published generation's id that follows the document's id; null when nothing is published. */
  readonly attempt: string | null;
  /** Vector slot of its first chunk, from which the chunk table leads to the others; -1 when there is none. */
  readonly firstChunk: number;
}

/** Chunks of a generation that were loaded and belong to no document of the mirror yet. */
export interface LoadedChunks {
  readonly attempt: string;
  /** Orders them among chunks with the same similarity, see `tieKey`. */
  readonly tie: number;
  /** Slots of their vectors, in the order of the chunks. */
  readonly slots: number[];
}

export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
