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
  const most = sumOf(best.slice(0, COMPARED));
  if (most <= 0) return 1;
  // Equally similar candidates count by their words, so that their order says nothing.
  const nearest = candidates.toSorted((a, b) => b.similarity - a.similarity || b.share - a.share);
  return Math.min(1, sumOf(nearest.slice(0, COMPARED).map(({ share }) => share)) / most);
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0);
