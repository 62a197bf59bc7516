import { listQueryTerms, listTerms } from './list-terms.js';
import type { TermList } from './term-tally.js';

/**
 * The count of each term, known by its 32-bit hash, in a text. `length` is the sum of the counts, without terms that are
 * kept aside.
 */
export interface TermCounts {
  readonly length: number;
  readonly counts: ReadonlyMap<number, number>;
}

/** The terms of a text, to be looked up. See `listTerms`. */
export const analyzeText = (text: string): TermCounts => lookedUp(listTerms(text));

/** The terms of a query, to be looked up. See `listQueryTerms`. */
export const analyzeQuery = (query: string): TermCounts => lookedUp(listQueryTerms(query));

const lookedUp = ({ length, terms, counts }: TermList): TermCounts => ({
  length,
  counts: new Map(Array.from(terms, (term, i) => [term, counts[i] ?? 0])),
});
