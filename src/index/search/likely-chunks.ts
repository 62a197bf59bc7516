import type { Collector } from '../postings/collector.js';

/**
 * Gathers the chunks that may be among the best by sums that differ from their scores in the last digits, so that only
 * these few are scored by themselves, which takes far longer than the sums.
 */
export interface LikelyChunks extends Collector {
  /** Takes the gathered chunks that may still be among the best. */
  finish(): void;
}

interface LikelyOptions {
  /** The number of chunks that are wanted. */
  readonly limit: number;
  readonly minScore: number;
  /** The greatest difference between a sum and the score. */
  readonly spare: number;
  readonly take: (slot: number) => void;
}

/** More are not gathered: chunks that are all as good are taken meanwhile. */
const MAX_GATHERED = 4_096;

export function createLikelyChunks({ limit, minScore, spare, take }: LikelyOptions): LikelyChunks {
  const best = createHighest(limit);
  let slots: number[] = [];
  let sums: number[] = [];
  // The sum of a chunk and its score differ by `spare` at most; so do the sum and the score of the worst of the best.
  const threshold = () => Math.max(minScore, best.lowest - spare);
  const finish = () => {
    const least = threshold() - spare;
    for (const [i, slot] of slots.entries()) if ((sums[i] ?? 0) >= least) take(slot);
    slots = [];
    sums = [];
  };
  return {
    get threshold() {
      return threshold();
    },
    collect: (slot, sum) => {
      best.add(sum);
      slots.push(slot);
      sums.push(sum);
      if (slots.length >= MAX_GATHERED) finish();
    },
    finish,
  };
}

/**
 * Holds the highest numbers so far, at most `limit` of them. `lowest` is the lowest of them; -Infinity while there are
 * fewer.
 */
function createHighest(limit: number): { readonly lowest: number; add(value: number): void } {
  /**
   * A binary heap: no number is higher than the two below it, at `2 i + 1` and `2 i + 2`. `?? 0` reads numbers that are
   * there.
   */
  const heap = new Float64Array(limit);
  let size = 0;
  return {
    get lowest() {
      return size < limit ? -Infinity : (heap[0] ?? 0);
    },
    add: (value) => {
      if (size < limit) {
        siftUp(heap, size, value);
        size += 1;
      } else if (value > (heap[0] ?? 0)) siftDown(heap, value);
    },
  };
}

/** Puts a number at a place, or further up. */
function siftUp(heap: Float64Array, place: number, value: number): void {
  let at = place;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent] ?? 0;
    if (above <= value) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = value;
}

/** Puts a number in the place of the first, or further down. */
function siftDown(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const below = (heap[left + 1] ?? Infinity) < (heap[left] ?? 0) ? left + 1 : left;
    const lower = heap[below] ?? 0;
    if (lower >= value) break;
    heap[at] = lower;
    at = below;
  }
  heap[at] = value;
}
