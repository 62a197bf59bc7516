import type { Candidate } from './ports.js';

export type Scored = Pick<Candidate, 'documentId' | 'generation' | 'number'> & { readonly score: number };

/**
 * Candidates of at least `minScore`, best first; ties by document, then chunk number. Of hundreds a few are looked at:
 * they are drawn from a heap of positions one by one, instead of sorting them all.
 */
export function* bestFirst(
  candidates: readonly Candidate[],
  scores: Float64Array,
  minScore: number,
): Generator<Scored> {
  const scoreAt = (position: number) => scores[position] ?? 0;
  const goesBefore = (a: number, b: number): boolean => {
    const difference = scoreAt(b) - scoreAt(a);
    if (difference !== 0) return difference < 0;
    const [left, right] = [candidates[a], candidates[b]];
    if (!left || !right) return a < b;
    if (left.documentId !== right.documentId) return left.documentId < right.documentId;
    return left.number === right.number ? a < b : left.number < right.number;
  };

  const heap = new Uint32Array(scores.length);
  let size = 0;
  for (let position = 0; position < scores.length; position += 1) {
    if (scoreAt(position) >= minScore) heap[size++] = position;
  }
  const sink = (from: number) => {
    const moved = heap[from] ?? 0;
    let parent = from;
    for (let child = 2 * parent + 1; child < size; child = 2 * parent + 1) {
      if (child + 1 < size && goesBefore(heap[child + 1] ?? 0, heap[child] ?? 0)) child += 1;
      if (!goesBefore(heap[child] ?? 0, moved)) break;
      heap[parent] = heap[child] ?? 0;
      parent = child;
    }
    heap[parent] = moved;
  };
  for (let parent = (size >> 1) - 1; parent >= 0; parent -= 1) sink(parent);

  while (size > 0) {
    const best = heap[0] ?? 0;
    size -= 1;
    heap[0] = heap[size] ?? 0;
    sink(0);
    const candidate = candidates[best];
    if (!candidate) continue;
    const { documentId, generation, number } = candidate;
    yield { documentId, generation, number, score: scoreAt(best) };
  }
}
