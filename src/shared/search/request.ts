import type { AccessLists, Principal } from '../access/access.js';
import type { SharingGuard } from '../access/sharing.js';
import type { Whereabouts } from '../chunks/fields.js';
import type { MatchableDocument } from '../document.js';
import type { Filter } from '../filters/parse.js';
import type { Ranking } from './ranking.js';

/** The parameters of a search. */
export interface SearchRequest {
  readonly principal: Principal;
  readonly query: string;
  readonly filter: Filter | null;
  /** The guard of the lists that the filter heeds. A search throws SharingChangedError where they are others by now. */
  readonly guard?: SharingGuard | null;
  /** The greatest number of hits to return. */
  readonly k: number;
  readonly minScore: number;
  /** The standard ranking when absent. */
  readonly ranking?: Ranking | undefined;
  /** With `document`, each document comes once, with its best chunk. */
  readonly per: 'chunk' | 'document';
  readonly signal?: AbortSignal;
  /** Gets all hits so far whenever there are more. An error of it ends the search. */
  readonly onHits?: (hits: readonly Hit[]) => void;
}

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
