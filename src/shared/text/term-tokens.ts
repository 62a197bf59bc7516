import { readTerms } from './packed-terms.js';

/** A term that a chunk repeats more often is not found any sooner, since BM25 is nearly saturated. */
const MAX_REPEATS = 3;
/**
 * Tokens have this many letters, so that they are no words of a query language.
 * One pair of terms in 300 million shares a token.
 */
const LETTERS = 6;

/** The token by which a full-text index knows a term. */
export function termToken(term: number): string {
  let token = '';
  for (let rest = term; token.length < LETTERS; rest = Math.floor(rest / 26))
    token += String.fromCharCode(97 + (rest % 26));
  return token;
}

/** The text that a full-text index reads of a chunk: each term as often as the chunk has it. */
export function termTokens(packed: Uint8Array): string {
  const tokens: string[] = [];
  readTerms(packed, (term, count) => {
    const token = termToken(term);
    for (let repeat = 0; repeat < Math.min(count, MAX_REPEATS); repeat += 1) tokens.push(token);
  });
  return tokens.join(' ');
}
