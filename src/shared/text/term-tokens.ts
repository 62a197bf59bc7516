import { packedSize, readTerms } from '../../index/index.js';

/** A term that a chunk repeats more often is not found any sooner, since BM25 is nearly saturated. */
const MAX_REPEATS = 3;
/**
 * Tokens have this many letters, so that they are no words of a query language.
 * One pair of terms in 300 million shares a token.
 */
const LETTERS = 6;

const LETTER_A = 97;
const BLANK = 32;

/** The buffer that tokens are written to. */
let letters = Buffer.alloc(0);

/** The token by which a full-text index knows a term. */
export function termToken(term: number): string {
  makeRoom(1);
  return letters.toString('latin1', 0, writeToken(term, 0));
}

/** The text that a full-text index reads of a chunk: each term as often as the chunk has it. */
export function termTokens(packed: Uint8Array): string {
  makeRoom(MAX_REPEATS * packedSize(packed));
  let end = 0;
  readTerms(packed, (term, count) => {
    for (let repeat = 0; repeat < Math.min(count, MAX_REPEATS); repeat += 1) {
      if (end > 0) {
        letters[end] = BLANK;
        end += 1;
      }
      end = writeToken(term, end);
    }
  });
  return letters.toString('latin1', 0, end);
}

function makeRoom(tokens: number): void {
  const bytes = tokens * (LETTERS + 1);
  if (letters.length < bytes) letters = Buffer.alloc(2 * bytes);
}

/** Writes a token, and returns where it ends. */
function writeToken(term: number, start: number): number {
  let rest = term;
  for (let place = start; place < start + LETTERS; place += 1) {
    letters[place] = LETTER_A + (rest % 26);
    rest = (rest / 26) >>> 0;
  }
  return start + LETTERS;
}
