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
      return heap.size < limit ? -Infinity : (heap.scores[0] ?? 0);
    },
    get lowest() {
      return heap.size < limit || limit === 0 ? null : (heap.slots[0] ?? null);
    },
    get size() {
      return heap.size;
    },
    each: (tell) => {
      for (let i = 0; i < heap.size; i += 1) tell(heap.slots[i] ?? 0, heap.scores[i] ?? 0);
    },
    collect: (slot, score) => {
      if (limit > 0) collect(heap, slot, score);
    },
    take: () => {
      const { slots, scores, size } = heap;
      const order = Array.from({ length: size }, (_, i) => i).sort((a, b) => (isWorse(heap, a, b) ? 1 : -1));
      return {
        slots: Int32Array.from(order, (i) => slots[i] ?? 0),
        scores: Float64Array.from(order, (i) => scores[i] ?? 0),
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
  // `?? 0`, here and below, reads entries that are known to be there.
  const lowest = scores[0] ?? 0;
  if (score < lowest || (score === lowest && compare(slot, slots[0] ?? 0) > 0)) return;
  slots[0] = slot;
  scores[0] = score;
  siftDown(heap);
}

/** Tells whether the entry at `a` comes after the one at `b`. */
function isWorse({ slots, scores, compare }: Heap, a: number, b: number): boolean {
  const [left, right] = [scores[a] ?? 0, scores[b] ?? 0];
  return left === right ? compare(slots[a] ?? 0, slots[b] ?? 0) > 0 : left < right;
}

function swap({ slots, scores }: Heap, a: number, b: number): void {
  const [slot, score] = [slots[a] ?? 0, scores[a] ?? 0];
  slots[a] = slots[b] ?? 0;
  scores[a] = scores[b] ?? 0;
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
