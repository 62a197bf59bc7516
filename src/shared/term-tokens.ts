import { unpackTerms } from './terms.js';

/** A chunk that says a word more often than this is not found any sooner. */
const MOST_REPEATS = 8;

/** What a full-text index knows a term by: letters and digits, no word of any query language. */
export function termToken(term: number): string {
  return `t${term.toString(36)}`;
}

/** What a full-text index reads of a chunk: each of its terms as often as the chunk has it. */
export function termTokens(packed: Uint8Array): string {
  const { counts } = unpackTerms(packed);
  return Array.from(counts, ([term, count]) =>
    Array.from({ length: Math.min(count, MOST_REPEATS) }, () => termToken(term)).join(' '),
  ).join(' ');
}
