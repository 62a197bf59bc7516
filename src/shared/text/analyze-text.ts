import { listTerms } from './list-terms.js';

/** How often each term, known by its 32-bit hash, occurs in a text. `length` is the sum of the counts. */
export interface TermCounts {
  readonly length: number;
  readonly counts: ReadonlyMap<number, number>;
}

/** The terms of a text, to be looked up. See `listTerms`. */
export function analyzeText(text: string): TermCounts {
  const { length, terms, counts } = listTerms(text);
  return { length, counts: new Map(Array.from(terms, (term, i) => [term, counts[i] ?? 0])) };
}
