import type { Embedder } from '../../ports.js';
import { backgroundRate } from '../../text/background-terms.js';
import { analyzeText, mixBits } from '../../text/analyze-text.js';

/** Length of every vector. Below, `?? 0` reads numbers of vectors of this length, which are known to be there. */
const DIMENSIONS = 1024;
const HASHES = 4;
/** Repetition saturates as in BM25, and later in a text of more terms than `MIDDLE_LENGTH`. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;
const MIDDLE_LENGTH = 120;
/** Texts whose terms weigh less than this together are too short to get a vector of full length. */
const PIVOT = 18;
/** The rate that is assumed of a term which is not in the background table. */
const RAREST = 1 / 1500;

/**
 * Makes vectors of hashed terms, offline and without a model: each term adds its weight to four signed dimensions (feature
 * hashing, Weinberger et al. 2009). A query's vector has at most four non-zero dimensions for each term.
 */
export function createBuiltinEmbedder(): Embedder {
  return {
    model: 'builtin-1',
    limits: { inputs: 256, tokens: 300_000 },
    dimensions: () => Promise.resolve(DIMENSIONS),
    embedDocuments: (texts) => Promise.resolve({ vectors: texts.map(documentVector), tokens: null }),
    embedQuery: (text) => Promise.resolve({ vectors: [queryVector(text)], tokens: null }),
  };
}

/** The norm is below 1, and smaller the shorter the text is. */
function documentVector(text: string): Float32Array {
  const { length, counts } = analyzeText(text);
  const damping = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * length) / MIDDLE_LENGTH);
  const sums = new Float64Array(DIMENSIONS);
  for (const [term, count] of counts) addTerm(sums, term, count / (count + damping));
  return divide(sums, Math.hypot(norm(sums), PIVOT));
}

/** The norm is 1, or 0 when the query has no terms. */
function queryVector(text: string): Float32Array {
  const sums = new Float64Array(DIMENSIONS);
  for (const [term, count] of analyzeText(text).counts) addTerm(sums, term, 1 + Math.log(count));
  return divide(sums, norm(sums));
}

function addTerm(sums: Float64Array, term: number, weight: number): void {
  const share = (weight * informativeness(term)) / Math.sqrt(HASHES);
  for (let hash = 1; hash <= HASHES; hash += 1) {
    const bits = mixBits(term + Math.imul(hash, 0x9e3779b9));
    const dimension = bits % DIMENSIONS;
    sums[dimension] = (sums[dimension] ?? 0) + (bits >>> 31 === 0 ? share : -share);
  }
}

/** The square root of the inverse frequency in general text; the vector that it is compared with has the other root. */
function informativeness(term: number): number {
  return Math.sqrt(Math.log1p(1 / Math.max(RAREST, backgroundRate(term))));
}

function norm(sums: Float64Array): number {
  let squares = 0;
  for (const value of sums) squares += value * value;
  return Math.sqrt(squares);
}

function divide(sums: Float64Array, by: number): Float32Array {
  const vector = new Float32Array(sums.length);
  if (by === 0) return vector;
  for (let i = 0; i < sums.length; i += 1) vector[i] = (sums[i] ?? 0) / by;
  return vector;
}
