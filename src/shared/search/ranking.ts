import {
  inverseDocumentFrequency,
  queryTermWeight,
  type TermStatistics,
  type TermWeights,
  type WordQuery,
} from '../../index/index.js';
import { sumOf } from '../at.js';
import { innerProduct } from '../data-set/stored-vectors.js';
import type { Embedding } from '../models/embedding.js';
import type { CallOptions } from '../ports.js';
import { backgroundRate } from '../text/background-terms.js';
import { analyzeQuery } from '../text/list-terms.js';

/** The scores of candidates: by their vectors, by the query's terms that they hold, or by both. */
export const RANKINGS = ['semantic', 'lexical', 'hybrid'] as const;
export type Ranking = (typeof RANKINGS)[number];

/** Makes the score of a chunk, in [0, 1], of the similarity of the vectors and the score by words. */
export interface Combine {
  (similarity: number, share: number): number;
  readonly vectors: VectorWeight;
}

/** The part of the vectors in a score; words have the rest. */
export interface VectorWeight {
  /** From 0 to 1. */
  readonly weight: number;
  /** The similarity from which on it counts. */
  readonly floor: number;
}

/** Scores candidates. It does not read the parts that it does not rank by. */
export interface Ranker {
  readonly ranking: Ranking;
  /**
   * Returns the function that scores the candidates of a search. The weight of a hybrid score may follow from how far their
   * two scores agree; else the score of a chunk does not depend on the other candidates.
   */
  combineFor(candidates: readonly Scores[]): Combine;
}

/** The score is the similarity of the vectors. */
export function createSemanticRanker(): Ranker {
  return { ranking: 'semantic', combineFor: () => bySimilarity };
}

/** The score is the share of the query's weight that a chunk and its section cover, see `score.ts` of src/index/scoring. */
export function createLexicalRanker(): Ranker {
  return { ranking: 'lexical', combineFor: () => byWords };
}

const bySimilarity: Combine = Object.assign((similarity: number) => clamp(similarity), {
  vectors: { weight: 1, floor: 0 },
});
const byWords: Combine = Object.assign((_similarity: number, share: number) => share, {
  vectors: { weight: 0, floor: 0 },
});

/**
 * The score is a weighted sum of the other two scores (a convex combination: Bruch, Gai and Ingber,
 * "An Analysis of Fusion Functions for Hybrid Retrieval", 2023). Both are in [0, 1] whatever the
 * other candidates are, so that nothing is scaled by these.
 *
 * @param weight the share of the similarity, from 0 to 1
 */
export function createHybridRanker(weight: number): Ranker {
  const combine = weighted(weight, 0);
  return { ranking: 'hybrid', combineFor: () => combine };
}

/**
 * Makes a hybrid ranker whose weight follows from the query and from how far the candidates' scores agree.
 *
 * @param floor the similarity that unrelated texts have with the model: only the similarity above it counts
 */
export function createFittingRanker(query: string, floor: number): Ranker {
  const terms = analyzeQuery(query).counts.size;
  return {
    ranking: 'hybrid',
    combineFor: (candidates) => weighted(similarityWeight(terms, agreementOf(candidates)), floor),
  };
}

function weighted(weight: number, floor: number): Combine {
  const vectors = { weight, floor };
  const combine = (similarity: number, share: number) =>
    clamp(shareOfVectors(vectors, similarity) + (1 - weight) * share);
  return Object.assign(combine, { vectors });
}

/** Returns the part of a score that the similarity of the vectors adds. */
export const shareOfVectors = ({ weight, floor }: VectorWeight, similarity: number): number =>
  weight * clamp((similarity - floor) / (1 - floor));

/**
 * Returns the share of the similarity in a hybrid score. The more terms a query has, the more its words say, and the less a
 * model tells them apart. Where the nearest hold little of the words that the best by words hold, the model may not know
 * the language, and its vectors count for less. Chosen on 16 and confirmed on 28 measurements with two models, see
 * bench/results/quality.md.
 */
function similarityWeight(terms: number, agreement: number): number {
  const disagreement = 1 - Math.min(1, agreement / ENOUGH_AGREEMENT);
  const words = (terms / HALF_AT_TERMS) ** 1.5;
  const vectors = MIN_TRUST ** disagreement;
  return vectors / (vectors + words);
}

/** A query of this many different terms is ranked half by them, where nothing speaks against the vectors. */
const HALF_AT_TERMS = 8;
/** From here on, the vectors find enough of the chunks that the words find: meaning finds more than words. */
const ENOUGH_AGREEMENT = 0.5;
/** The weight of vectors, beside the words, where the nearest hold none of these. */
const MIN_TRUST = 0.15;

/** The request that is to be ranked. */
interface RankingRequest {
  readonly ranking?: Ranking | undefined;
  readonly query: string;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the ranker that a request asks for, or the standard one when it does not say. @throws UnavailableError */
export type ChooseRanker = (request: RankingRequest) => Ranker | Promise<Ranker>;

export function createRankers(options: {
  readonly standard: Ranking;
  /** The share of the vectors in every hybrid score; `auto` for a share that fits the query, see `similarityWeight`. */
  readonly hybridWeight: number | 'auto';
  /** Resolves with the similarity that unrelated texts have with the model. */
  readonly floor: (options: CallOptions) => Promise<number>;
}): ChooseRanker {
  const semantic = createSemanticRanker();
  const lexical = createLexicalRanker();
  const { standard, hybridWeight, floor } = options;
  return ({ ranking = standard, query, signal }) => {
    switch (ranking) {
      case 'semantic':
        return semantic;
      case 'lexical':
        return lexical;
      case 'hybrid':
        return hybridWeight === 'auto'
          ? floor({ signal }).then((least) => createFittingRanker(query, least))
          : createHybridRanker(hybridWeight);
    }
  };
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** The two scores of a candidate. */
export interface Scores {
  /** The score by vectors. */
  readonly similarity: number;
  /** By words. */
  readonly share: number;
}

/** The number of nearest candidates that are compared with as many candidates of the highest scores by words. */
const COMPARED = 10;

/**
 * Returns the agreement of vectors and words: the scores by words of the nearest candidates, as a part of the scores of the
 * best by words, from 0 (the nearest hold none of the words) to 1 (they hold as much as any). Nothing disagrees where no
 * candidate holds a word.
 *
 * A model that does not know the language of the documents puts texts near that have nothing to do with the query, and
 * these hold few of its words. A model that knows it mostly puts texts near that hold some of them, even where it finds
 * more than the words say.
 */
export function agreementOf(candidates: readonly Scores[]): number {
  const best = candidates.map(({ share }) => share).sort((a, b) => b - a);
  const most = totalOf(best.slice(0, COMPARED));
  if (most <= 0) return 1;
  // Equally similar candidates count by their words, so that their order says nothing.
  const nearest = candidates.toSorted((a, b) => b.similarity - a.similarity || b.share - a.share);
  return Math.min(1, totalOf(nearest.slice(0, COMPARED).map(({ share }) => share)) / most);
}

const totalOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);

/**
 * Texts that have nothing to do with each other. A model's similarities begin where it rates them: some models never go
 * below .7.
 */
const UNRELATED = [
  'The train to the coast leaves at nine from platform four.',
  'Knead the dough for ten minutes and let it rise overnight.',
  'The court dismissed the appeal because it was filed too late.',
  'Photosynthesis turns light into chemical energy.',
  'Our goalkeeper saved two penalties in the final.',
  'Interest on the loan is due at the end of each quarter.',
  'Tighten the bolts of the rear wheel before riding.',
  'She painted the ceiling of the chapel in four years.',
  'The patient was given antibiotics for a week.',
  'A compiler translates source code into machine code.',
  'Whales breathe air and give birth to live young.',
  'The museum is closed on the first Monday in May.',
];

const MAX_FLOOR = 0.95;

/**
 * Measures the similarity that unrelated texts have with a model: the mean cosine of all pairs, from 0 to .95.
 * @throws UnavailableError when the provider cannot answer
 */
export async function measureFloor(
  embedding: Pick<Embedding, 'embedDocuments'>,
  options: CallOptions = {},
): Promise<number> {
  const texts = UNRELATED.map((text) => ({ text, tokens: text.length }));
  const { vectors } = await embedding.embedDocuments(texts, options);
  const cosines = vectors.flatMap((one, i) => vectors.slice(i + 1).map((other) => innerProduct(one, other)));
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  return Math.min(MAX_FLOOR, Math.max(0, mean));
}

export interface WeightedTerm {
  readonly term: number;
  readonly weight: number;
}

/** The shipped background table counts as this many more chunks, each of this many terms. */
const PRIOR_CHUNKS = 30;
const PRIOR_LENGTH = 150;
/** A query as long as a text is ranked by this many of its heaviest terms, so that ranking takes milliseconds. */
const MAX_TERMS = 128;

/** Analyzes a query once, to be weighed by statistics of its terms that are known later. */
export function toWordQuery(query: string): WordQuery {
  const { counts } = analyzeQuery(query);
  return {
    terms: [...counts.keys()],
    weigh: (statistics) => termWeights(heaviestOf(counts, statistics), statistics),
  };
}

/** Returns the terms of a query that count, weighted by the statistics of the caller's chunks. */
export function weighQuery(query: string, statistics: TermStatistics): TermWeights {
  return toWordQuery(query).weigh(statistics);
}

/** Returns the terms of a query that count, heaviest first. */
export function heaviestTerms(query: string, statistics: TermStatistics): WeightedTerm[] {
  return heaviestOf(analyzeQuery(query).counts, statistics);
}

function heaviestOf(counts: ReadonlyMap<number, number>, statistics: TermStatistics): WeightedTerm[] {
  const weighted = Array.from(counts, ([term, count]) => ({
    term,
    weight: queryTermWeight(count, inverseFrequency(term, statistics)),
  }));
  return weighted.sort((a, b) => b.weight - a.weight || a.term - b.term).slice(0, MAX_TERMS);
}

/** Makes the form of terms that indexes and rankers read: terms ascending, weights as shares of their sum. */
export function termWeights(weighted: readonly WeightedTerm[], statistics: TermStatistics): TermWeights {
  const ascending = weighted.toSorted((a, b) => a.term - b.term);
  const total = weightOf(weighted);
  return {
    terms: Uint32Array.from(ascending, ({ term }) => term),
    weights: Float64Array.from(ascending, ({ weight }) => weight / total),
    averageLength: blendedLength(statistics),
  };
}

export function weightOf(terms: readonly WeightedTerm[]): number {
  return terms.reduce((sum, { weight }) => sum + weight, 0);
}

/** Returns the inverse document frequency over the caller's chunks and the background table together. */
function inverseFrequency(term: number, { chunks, frequencies }: TermStatistics): number {
  const all = chunks + PRIOR_CHUNKS;
  const holding = Math.min(all, sumOf(frequencies, term) + PRIOR_CHUNKS * backgroundRate(term));
  return inverseDocumentFrequency(holding, all);
}

function blendedLength({ chunks, totalLength }: TermStatistics): number {
  return (totalLength + PRIOR_CHUNKS * PRIOR_LENGTH) / (chunks + PRIOR_CHUNKS);
}
