import type { Filter } from '../filters/parse.js';
import type { Ranking } from './ranking.js';

/** What a search asks for. */
export interface SearchRequest {
  readonly callerId: string;
  readonly query: string;
  readonly filter: Filter | null;
  /** Most hits to return. */
  readonly k: number;
  readonly minScore: number;
  /** Absent: the standard one. */
  readonly ranking?: Ranking | undefined;
  /** `document`: each document once, by its best chunk. */
  readonly per: 'chunk' | 'document';
  readonly signal?: AbortSignal;
}
