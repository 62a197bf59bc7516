import { packedLength, readTerms, type TermCounts, type TermList } from '../../index/index.js';
import { isAside, mixBits } from './hash-term.js';
import { backgroundRate } from './background-terms.js';

/*
 * Vectors of hashed terms: each term adds its weight to four signed dimensions (feature hashing, Weinberger et al. 2009). A
 * query's vector has at most four non-zero dimensions for each term. Vectors are a function of a text's term counts, so that
 * nothing has to hold them where the counts are.
 */

/** Length of every vector. */
export const TERM_VECTOR_DIMENSIONS = 1024;
const HASHES = 4;
/** Repetition saturates as in BM25, and later in a text of more terms than `MIDDLE_LENGTH`. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
const MIDDLE_LENGTH = 120;
/** Texts whose terms weigh less than this together are too short to get a vector of full length. */
const PIVOT = 18;
/** The rate that is assumed of a term which is not in the background table. */
const RAREST = 1 / 1500;

/** The vector of a document's text. Its norm is below 1, and smaller the shorter the text is. */
export function documentVector({ length, terms, counts }: TermList): Float32Array {
  const sums = scratch.fill(0);
  for (let i = 0; i < terms.length; i += 1) addTerm(sums, terms[i], saturated(counts[i], length));
  return divide(sums, Math.hypot(norm(sums), PIVOT));
}

/** The vector of a query. Its norm is 1, or 0 when the query has no terms. */
export function queryVector({ counts }: TermCounts): Float32Array {
  const sums = new Float64Array(TERM_VECTOR_DIMENSIONS);
  for (const [term, count] of counts) addTerm(sums, term, 1 + Math.log(count));
  return divide(sums, norm(sums));
}

/** Returns the weight of a term's count in a text of this length. */
export function saturated(count: number, length: number): number {
  return count / (count + SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / MIDDLE_LENGTH));
}

/** Returns the share of a term in the inner product of a vector and a text, for each unit of its count's weight. */
export function termProduct(vector: Float32Array, term: number): number {
  let sum = 0;
  for (let hash = 1; hash <= HASHES; hash += 1) {
    const bits = hashed(term, hash);
    const value = vector[bits % TERM_VECTOR_DIMENSIONS];
    sum += bits >>> 31 === 0 ? value : -value;
  }
  return sum === 0 ? 0 : (sum * informativeness(term)) / Math.sqrt(HASHES);
}

const scratch = new Float64Array(TERM_VECTOR_DIMENSIONS);

/** Returns the divisor that makes a document's vector of its sums, from its packed term counts. */
export function divisorOf(packed: Uint8Array): number {
  scratch.fill(0);
  const length = packed.length === 0 ? 0 : packedLength(packed);
  readTerms(packed, (term, count) => addTerm(scratch, term, saturated(count, length)));
  return Math.hypot(norm(scratch), PIVOT);
}

function addTerm(sums: Float64Array, term: number, weight: number): void {
  const share = (weight * informativeness(term)) / Math.sqrt(HASHES);
  for (let hash = 1; hash <= HASHES; hash += 1) {
    const bits = hashed(term, hash);
    const dimension = bits % TERM_VECTOR_DIMENSIONS;
    sums[dimension] += bits >>> 31 === 0 ? share : -share;
  }
}

const hashed = (term: number, hash: number): number => mixBits(term + Math.imul(hash, 0x9e3779b9));

/** Recent terms and their informativeness, by the last bits of the term, which halves the time of making a vector. */
const REMEMBERED = 2 ** 14;
const rememberedTerms = new Float64Array(REMEMBERED).fill(-1);
const rememberedValues = new Float64Array(REMEMBERED);

/**
 * The square root of the inverse frequency in general text; the vector that it is compared with has the other root. Terms that
 * are kept aside say nothing.
 */
function informativeness(term: number): number {
  if (isAside(term)) return 0;
  const place = (term >>> 1) & (REMEMBERED - 1);
  if (rememberedTerms[place] !== term) {
    rememberedTerms[place] = term;
    rememberedValues[place] = Math.sqrt(Math.log1p(1 / Math.max(RAREST, backgroundRate(term))));
  }
  return rememberedValues[place];
}

function norm(sums: Float64Array): number {
  let squares = 0;
  // By index, which takes half as long as an iterator.
  for (let i = 0; i < TERM_VECTOR_DIMENSIONS; i += 1) squares += sums[i] ** 2;
  return Math.sqrt(squares);
}

function divide(sums: Float64Array, by: number): Float32Array {
  const vector = new Float32Array(sums.length);
  if (by === 0) return vector;
  for (let i = 0; i < sums.length; i += 1) vector[i] = sums[i] / by;
  return vector;
}
