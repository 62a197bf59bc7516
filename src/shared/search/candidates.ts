import type { Candidate, ChunkOfDocument } from '../ports.js';

export const candidateOf = (
  { documentId, generation, number }: ChunkOfDocument,
  score: number,
): Candidate => ({ documentId, generation, number, score });

/** Names a chunk in maps and sets. */
export const addressOf = ({ generation, number }: Omit<ChunkOfDocument, 'documentId'>): string =>
  `${generation}:${String(number)}`;

/** Orders candidates best first, ties by document id and then chunk number. */
export const compareCandidates = (a: Candidate, b: Candidate): number =>
  b.score - a.score || compareAddresses(a, b);

/** Orders chunks by document id and then chunk number. */
export function compareAddresses(a: ChunkOfDocument, b: ChunkOfDocument): number {
  if (a.documentId !== b.documentId) return a.documentId < b.documentId ? -1 : 1;
  return a.number - b.number;
}

/**
 * Yields the candidates of at least `minScore`, best first, ties by document and then chunk number. The `k` best and any
 * ties with the last of them are sorted at once. The others are sorted only when the reader goes on, because comparing
 * hundreds of candidates takes ten times as long as the native sort of their scores.
 */
export function* bestFirst(
  candidates: readonly Candidate[],
  { k, minScore }: { readonly k: number; readonly minScore: number },
): Generator<Candidate> {
  const scores = Float64Array.from(candidates, ({ score }) => score);
  // With fewer than `k` candidates there is no border: all scores are at least 0.
  const border = scores.sort().at(-k) ?? 0;
  yield* candidates.filter(({ score }) => score >= minScore && score >= border).sort(compareCandidates);
  yield* candidates.filter(({ score }) => score >= minScore && score < border).sort(compareCandidates);
}
