import type { SharingGuard } from '../access/sharing-guard.js';
import type { Filter } from '../filters/parse.js';
import type { Hit } from './hit.js';
import type { Ranking } from './ranking.js';

/** The parameters of a search. */
export interface SearchRequest {
  readonly callerId: string;
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
