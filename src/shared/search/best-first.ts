import { at } from '../at.js';
import type { Candidate } from '../ports.js';

export type ScoredCandidate = Pick<Candidate, 'documentId' | 'generation' | 'number'> & {
  readonly score: number;
};

/**
 * Yields the candidates of at least `minScore`, best first, ties by document and then chunk number. The `k` best and
 * those that tie with the last of them are sorted at once. The others are sorted only when the reader goes on, because
 * comparing hundreds of candidates takes ten times as long as the native sort of their scores.
 */
export function* bestFirst(
  candidates: readonly Candidate[],
  scores: Float64Array,
  { k, minScore }: { readonly k: number; readonly minScore: number },
): Generator<ScoredCandidate> {
  // With fewer than `k` candidates there is no border: all scores are at least 0.
  const border = scores.toSorted().at(-k) ?? 0;
  yield* sorted(candidates, scores, (score) => score >= minScore && score >= border);
  yield* sorted(candidates, scores, (score) => score >= minScore && score < border);
}

function sorted(
  candidates: readonly Candidate[],
  scores: Float64Array,
  isWanted: (score: number) => boolean,
): ScoredCandidate[] {
  const wanted: ScoredCandidate[] = [];
  for (const [i, { documentId, generation, number }] of candidates.entries()) {
    const score = at(scores, i);
    if (isWanted(score)) wanted.push({ documentId, generation, number, score });
  }
  return wanted.sort(compare);
}

function compare(a: ScoredCandidate, b: ScoredCandidate): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.number - b.number;
}
