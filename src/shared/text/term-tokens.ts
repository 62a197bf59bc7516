import { unpackTerms } from './terms.js';

/** A chunk that says a word more often than this is not found any sooner: BM25 is nearly saturated. */
const MAX_REPEATS = 3;
/** Of letters alone, no word of any query language; that one pair of terms in 300 million is taken for one does no harm. */
const LETTERS = 6;

/** What a full-text index knows a term by. */
export function termToken(term: number): string {
  let token = '';
  for (let rest = term; token.length < LETTERS; rest = Math.floor(rest / 26))
    token += String.fromCharCode(97 + (rest % 26));
  return token;
}

/** What a full-text index reads of a chunk: each of its terms as often as the chunk has it. */
export function termTokens(packed: Uint8Array): string {
  const tokens: string[] = [];
  for (const [term, count] of unpackTerms(packed).counts) {
    const token = termToken(term);
    for (let repeat = 0; repeat < Math.min(count, MAX_REPEATS); repeat += 1) tokens.push(token);
  }
  return tokens.join(' ');
}
