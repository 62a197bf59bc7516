import type { AccessClass, Partition } from './partitions.js';
import type { AppTypes } from './app.js';

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

const DIGITS = Array.from('-0123456789abcdef');
const LENGTH = 12;

/**
 * Makes a number of an id that orders ids as strings are ordered, or leaves them equal. It reads the first characters of a
 * UUID as digits of base 17, which a double holds exactly. From the first character on that is no such digit, all digits
 * are the lowest or the highest.
 */
export function tieKey(id: string): number {
  let key = 0;
  let rest = 0;
  let isPrefix = true;
  for (let i = 0; i < LENGTH; i += 1) {
    if (isPrefix) {
      const character = id.charAt(i);
      const digit = character === '' ? -1 : DIGITS.indexOf(character);
      if (digit >= 0) {
        key = key * DIGITS.length + digit;
        continue;
      }
      isPrefix = false;
      const below = DIGITS.filter((each) => each < character).length;
      rest = below === 0 ? 0 : DIGITS.length - 1;
      key = key * DIGITS.length + Math.max(below - 1, 0);
      continue;
    }
    key = key * DIGITS.length + rest;
  }
  return key;
}
