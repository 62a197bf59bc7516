import { backgroundRate } from '../background-terms.js';
import type { Embedder } from '../ports.js';
import { analyzeText, mixBits } from '../terms.js';

const DIMENSIONS = 1024;
const HASHES = 4;
/** Norm below which a text counts as too short to be rewarded fully for what it says: "pivot" of its length. */
const PIVOT = 15;
const SATURATION = 1.2;
const RAREST = 1 / 4000;

/**
 * Vectors of hashed words, made offline and without a model: each term adds its weight to four signed dimensions
 * (feature hashing, Weinberger et al. 2009). A query's vector has about four non-zero dimensions a term.
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

function documentVector(text: string): Float32Array {
  return vectorOf(text, { weigh: (count) => count / (count + SATURATION), pivot: PIVOT });
}

function queryVector(text: string): Float32Array {
  return vectorOf(text, { weigh: (count) => 1 + Math.log(count), pivot: 0 });
}

function vectorOf(
  text: string,
  { weigh, pivot }: { weigh: (count: number) => number; pivot: number },
): Float32Array {
  const sums = new Float64Array(DIMENSIONS);
  for (const [term, count] of analyzeText(text).counts) {
    addTerm(sums, term, weigh(count) * informativeness(term));
  }
  const norm = Math.sqrt(sums.reduce((sum, value) => sum + value * value, pivot * pivot));
  return Float32Array.from(sums, (value) => (norm === 0 ? 0 : value / norm));
}

function addTerm(sums: Float64Array, term: number, weight: number): void {
  for (let hash = 1; hash <= HASHES; hash += 1) {
    const bits = mixBits(term + Math.imul(hash, 0x9e3779b9));
    const dimension = bits % DIMENSIONS;
    sums[dimension] = (sums[dimension] ?? 0) + (bits >>> 31 === 0 ? weight : -weight) / 2;
  }
}

/** Square root of the inverse frequency in general text. */
function informativeness(term: number): number {
  return Math.sqrt(Math.log1p(1 / Math.max(RAREST, backgroundRate(term))));
}
