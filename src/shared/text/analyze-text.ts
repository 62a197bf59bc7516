import { listQueryTerms, listTerms } from './list-terms.js';
import type { TermCounts, TermList } from '../../index/index.js';

/** The terms of a text, to be looked up. See `listTerms`. */
export const analyzeText = (text: string): TermCounts => lookedUp(listTerms(text));

/** The terms of a query, to be looked up. See `listQueryTerms`. */
export const analyzeQuery = (query: string): TermCounts => lookedUp(listQueryTerms(query));

const lookedUp = ({ length, terms, counts }: TermList): TermCounts => ({
  length,
  counts: new Map(Array.from(terms, (term, i) => [term, counts[i] ?? 0])),
});
