import type { Whereabouts } from '../chunks/whereabouts.js';
import type { AccessLists } from '../access/access.js';
import type { MatchableDocument } from '../document.js';

/** The part of a record that answers need. Its access lists may be far longer than all the rest. */
export type FoundRecord = Omit<MatchableDocument, keyof AccessLists>;

/** A chunk that the caller may read, by the record as it was when the answer was built. */
export interface Hit extends Whereabouts {
  readonly record: FoundRecord;
  readonly number: number;
  readonly content: string;
  /** In [0, 1]. Hits are ordered by it, ties by document and then chunk number. */
  readonly score: number;
}
