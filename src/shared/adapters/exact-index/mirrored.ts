import type { AccessLists } from '../../access.js';
import type { MatchableDocument } from '../../document.js';

/** Who may read: shared by all documents with the same lists, so that it is decided once for all of them. */
export interface AccessClass {
  readonly id: number;
  readonly key: string;
  readonly lists: AccessLists;
}

/** A document as the mirror holds it; replaced whole when its record changes. */
export interface MirroredDocument {
  /** Number of the document within this mirror; used again after it is gone. */
  readonly slot: number;
  readonly createdAtMs: number;
  readonly record: MatchableDocument;
  readonly access: AccessClass;
  readonly content: MirroredContent | null;
}

/** Published chunks, by the slots of their vectors, in order. */
export interface MirroredContent {
  readonly generation: string;
  readonly vectors: readonly number[];
}

/** What a vector slot holds. */
export interface MirroredChunk {
  readonly documentSlot: number;
  readonly number: number;
}

export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
