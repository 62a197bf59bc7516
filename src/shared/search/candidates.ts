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
