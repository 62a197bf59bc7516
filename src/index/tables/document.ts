import type { AccessClass } from './access-classes.js';
import type { AppTypes } from './app.js';
import type { Partition } from './partitions.js';

/** The properties of a document that the index is told. */
export interface DocumentEntry<App extends AppTypes> {
  readonly id: string;
  readonly fields: App['fields'];
  readonly access: App['access'];
  /** Equal for equal access, and short. */
  readonly accessKey: string;
  /** The owner whose term statistics count the document; null when its owner may not read it. */
  readonly statisticsOwner: string | null;
}

/**
 * A document as the index holds it, replaced whole when its record changes. It shares its access with other documents that
 * have the same, because there may be a hundred thousand documents.
 */
export interface IndexedDocument<App extends AppTypes = AppTypes> {
  readonly id: string;
  /** The number of the document within the index. It is used again after the document is gone. */
  readonly slot: number;
  readonly accessClass: AccessClass<App>;
  readonly partition: Partition;
  /** The part of the published generation's id after the document's id; null when nothing is published. */
  readonly attempt: string | null;
  /** The name of its file that its chunks are found by; see `LoadedChunks`. */
  readonly named: string | null | undefined;
  /** The slot of its first chunk, from which the chunk table leads to the others; -1 when it has none. */
  readonly firstChunk: number;
  readonly fields: App['fields'];
}

/** Chunks of a generation that were loaded and belong to no document of the index yet. */
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

export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
