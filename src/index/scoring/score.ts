import { packedLength, readCounts } from './packed-terms.js';
import type { TermWeights } from './terms.js';

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

/*
 * The score of a chunk by words is the mean of its own score and the score of its section: the chunks of the document
 * around it, taken as one text. One chunk of a text knows less than the text: the paragraph before may hold the words that
 * the question names. A document of up to `SECTION_CHUNKS` chunks is one section, so that a chunk of a short document
 * counts by its own text and by the text of the whole document; a chunk that is alone keeps its own score.
 *
 * A section of n chunks is compared with chunks of the average length times the fourth root of n: a long text may repeat a
 * word more often, but not n times as often, as more of it is about something else.
 */

/**
 * The number of chunks of a document in a row that are a section, the first from chunk 0 on. It bounds the reads of a
 * score.
 */
export const SECTION_CHUNKS = 8;
/**
 * A search by words looks at this many times as many of the chunks that score highest by themselves where too few of the first
 * reach its least score. Real texts fill as many places as with ten times that: among 7,111 chunks of long documents, a least
 * score of 0.4 leaves 1,420 hits of the first 26, 1,439 of 104, and 1,440 of 256.
 */
export const FURTHER_LOOK = 4;
/** Scores that were added up in another order differ by less, in their last digits. */
const ROUNDING = 1e-9;

/** Returns the number of the first chunk of the section that holds a chunk. */
export function sectionOf(number: number): number {
  return number - (number % SECTION_CHUNKS);
}

/** Returns the least own score of a chunk whose score together with its section is this. */
export function leastOwnShare(score: number): number {
  return Math.max(0, 2 * score - 1 - ROUNDING);
}

/** Returns the score of a chunk. A chunk that holds none of the words scores 0, whatever is around it. */
export function scoreWithSection(own: number, section: number): number {
  return own > 0 ? (own + section) / 2 : 0;
}

/**
 * Returns a function that computes the share of the terms' weight that chunks cover together, from 0 to 1. For one chunk
 * it is its own.
 */
export function createSectionShare(query: TermWeights): (chunks: readonly Uint8Array[]) => number {
  const { terms } = query;
  const counts = new Uint8Array(terms.length);
  const sums = new Uint32Array(terms.length);
  return (chunks) => {
    if (chunks.length === 1) return coveredShare(chunks[0], query, counts);
    sums.fill(0);
    let length = 0;
    for (const packed of chunks) {
      length += packedLength(packed);
      readCounts(packed, terms, counts);
      for (let i = 0; i < counts.length; i += 1) sums[i] += counts[i];
    }
    return sectionShare({ counts: sums, length, chunks: chunks.length }, query);
  };
}

/** Returns what each of the terms adds to the share that chunks cover together; one chunk alone has its own share. */
export function sharesByTerm(
  chunks: readonly Uint8Array[],
  { terms, weights, averageLength }: TermWeights,
): Float64Array {
  const counts = new Uint8Array(terms.length);
  const sums = new Uint32Array(terms.length);
  let length = 0;
  for (const packed of chunks) {
    length += packedLength(packed);
    readCounts(packed, terms, counts);
    for (let i = 0; i < counts.length; i += 1) sums[i] += counts[i];
  }
  const damping = lengthDamping(length, averageLength * Math.sqrt(Math.sqrt(Math.max(1, chunks.length))));
  return Float64Array.from(sums, (count, i) => (weights[i] * count) / (count + damping));
}

/** The terms that the chunks of a section hold together. */
interface Together {
  /** The number of occurrences of each term of the query. */
  readonly counts: Uint32Array;
  /** In terms. */
  readonly length: number;
  readonly chunks: number;
}

/** Returns the share of the terms' weight that more than one chunk cover together. */
export function sectionShare(
  { counts, length, chunks }: Together,
  { weights, averageLength }: TermWeights,
): number {
  const damping = lengthDamping(length, averageLength * Math.sqrt(Math.sqrt(chunks)));
  let share = 0;
  for (let i = 0; i < counts.length; i += 1) {
    const count = counts[i];
    if (count > 0) share += (weights[i] * count) / (count + damping);
  }
  return Math.min(1, Math.max(0, share));
}
