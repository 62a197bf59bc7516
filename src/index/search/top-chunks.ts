import type { Collector } from '../postings/score-segment.js';
import type { CompareSlots } from '../vectors/knn-collector.js';

/** The best chunks so far: at most `limit` of them, the lowest on top of a binary heap. */
export interface TopChunks {
  /** A chunk of a lower score cannot be among the best any more. -Infinity while there are fewer than `limit`. */
  readonly threshold: number;
  /** The last of the best chunks; null while there are fewer than `limit`. */
  readonly lowest: number | null;
  /** The number of chunks in it. */
  readonly size: number;
  collect(slot: number, score: number): void;
  /** Calls `tell` for each of the chunks, in any order. */
  each(tell: (slot: number, score: number) => void): void;
  /** Returns the chunks, best first. */
  take(): { readonly slots: Int32Array; readonly scores: Float64Array };
}

export function createTopChunks(limit: number, compare: CompareSlots): TopChunks {
  const heap: Heap = { slots: new Int32Array(limit), scores: new Float64Array(limit), size: 0, compare };
  return {
    get threshold() {
      return lowestOf(heap.scores, heap.size);
    },
    get lowest() {
      return heap.size < limit || limit === 0 ? null : heap.slots[0];
    },
    get size() {
      return heap.size;
    },
    each: (tell) => {
      for (let i = 0; i < heap.size; i += 1) tell(heap.slots[i], heap.scores[i]);
    },
    collect: (slot, score) => {
      if (limit > 0) collect(heap, slot, score);
    },
    take: () => {
      const { slots, scores, size } = heap;
      const order = Array.from({ length: size }, (_, i) => i).sort((a, b) => (isWorse(heap, a, b) ? 1 : -1));
      return {
        slots: Int32Array.from(order, (i) => slots[i]),
        scores: Float64Array.from(order, (i) => scores[i]),
      };
    },
  };
}

/** The worst entry is at 0, and no entry is better than the two below it, at `2 i + 1` and `2 i + 2`. */
interface Heap {
  readonly slots: Int32Array;
  readonly scores: Float64Array;
  readonly compare: CompareSlots;
  size: number;
}

function collect(heap: Heap, slot: number, score: number): void {
  const { slots, scores, compare } = heap;
  if (heap.size < slots.length) {
    slots[heap.size] = slot;
    scores[heap.size] = score;
    heap.size += 1;
    siftUp(heap);
    return;
  }
  const lowest = scores[0];
  if (score < lowest || (score === lowest && compare(slot, slots[0]) > 0)) return;
  slots[0] = slot;
  scores[0] = score;
  siftDown(heap);
}

/** Tells whether the entry at `a` comes after the one at `b`. */
function isWorse({ slots, scores, compare }: Heap, a: number, b: number): boolean {
  const [left, right] = [scores[a], scores[b]];
  return left === right ? compare(slots[a], slots[b]) > 0 : left < right;
}

function swap({ slots, scores }: Heap, a: number, b: number): void {
  const [slot, score] = [slots[a], scores[a]];
  slots[a] = slots[b];
  scores[a] = scores[b];
  slots[b] = slot;
  scores[b] = score;
}

/** Moves the last entry up to its place. */
function siftUp(heap: Heap): void {
  for (let at = heap.size - 1; at > 0;) {
    const parent = (at - 1) >>> 1;
    if (!isWorse(heap, at, parent)) return;
    swap(heap, at, parent);
    at = parent;
  }
}

/** Moves the first entry down to its place. */
function siftDown(heap: Heap): void {
  for (let at = 0; ;) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    let worst = at;
    if (left < heap.size && isWorse(heap, left, worst)) worst = left;
    if (right < heap.size && isWorse(heap, right, worst)) worst = right;
    if (worst === at) return;
    swap(heap, at, worst);
    at = worst;
  }
}

/**
 * Gathers the chunks that may be among the best by sums that differ from their scores in the last digits, so that only
 * these few are scored by themselves, which takes far longer than the sums.
 */
interface LikelyChunks extends Collector {
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
    for (const [i, slot] of slots.entries()) if (sums[i] >= least) take(slot);
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
   * A binary heap: no number is higher than the two below it, at `2 i + 1` and `2 i + 2`.
   */
  const heap = new Float64Array(limit);
  let size = 0;
  return {
    get lowest() {
      return lowestOf(heap, size);
    },
    add: (value) => {
      if (size < limit) {
        siftUpValue(heap, size, value);
        size += 1;
      } else if (value > heap[0]) siftDownValue(heap, value);
    },
  };
}

/** The number on top of a heap; -Infinity while it is not full, and 0 for the heap that has room for none. */
function lowestOf(heap: Float64Array, size: number): number {
  if (size < heap.length) return -Infinity;
  return heap.length === 0 ? 0 : heap[0];
}

/** Puts a number at a place, or further up. */
function siftUpValue(heap: Float64Array, place: number, value: number): void {
  let at = place;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent];
    if (above <= value) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = value;
}

/** Puts a number in the place of the first, or further down. */
function siftDownValue(heap: Float64Array, value: number): void {
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    if (left >= heap.length) break;
    const below = (heap[left + 1] ?? Infinity) < heap[left] ? left + 1 : left;
    const lower = heap[below];
    if (lower >= value) break;
    heap[at] = lower;
    at = below;
  }
  heap[at] = value;
}
