import type { TermWeights } from './terms.js';
import { packedLength, readCounts } from './packed-terms.js';

/*
 * BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009), with the inverse document
 * frequency of Lucene, divided by the score of a chunk that covers the query wholly. So a score is the share of the
 * query's weight that a chunk covers:
 *
 *   Σ w(t) · tf / (tf + K1 · (1 - B + B · length / average length)),  where  w(t) = min(qtf, MAX_REPEATS) · idf(t) / Σ w
 *
 * `tf` and `qtf` are how often a term occurs in the chunk and in the query.
 */

/** The saturation of a term: how soon its repetition in a chunk stops to count for more. */
const K1 = 1.2;
/** The share of the saturation that depends on the length of the chunk, from 0 to 1. */
const B = 0.75;
/**
 * A term that the query repeats more often does not weigh more. Up to here it weighs as often as it is said, because the
 * repeated terms of a long query are its subject.
 */
const MAX_REPEATS = 8;

/**
 * Share of the terms' weight that a chunk covers, from 0 to 1.
 *
 * @param packed the term counts of the chunk, as `packed-terms.ts` packs them
 * @param counts scratch for as many counts as there are terms, so that nothing is allocated for a chunk
 */
export function coveredShare(
  packed: Uint8Array,
  { terms, weights, averageLength }: TermWeights,
  counts: Uint8Array,
): number {
  const damping = lengthDamping(packedLength(packed), averageLength);
  readCounts(packed, terms, counts);
  let share = 0;
  for (let i = 0; i < terms.length; i += 1) {
    const count = counts[i];
    if (count > 0) share += (weights[i] * count) / (count + damping);
  }
  return Math.min(1, Math.max(0, share));
}

/**
 * Returns the number that a term's count in a chunk is compared with: it grows with the length of the chunk. Lengths are in
 * terms.
 */
export function lengthDamping(length: number, averageLength: number): number {
  return K1 * (1 - B + (B * length) / averageLength);
}

/** Returns the weight of a term before weights are made shares of their sum. @param count how often the query has the term */
export function queryTermWeight(count: number, inverseFrequency: number): number {
  return Math.min(count, MAX_REPEATS) * inverseFrequency;
}

/** Returns the inverse document frequency of a term that `holding` of `all` chunks hold; both may be fractions. */
export function inverseDocumentFrequency(holding: number, all: number): number {
  return Math.log1p((all - holding + 0.5) / (holding + 0.5));
}
