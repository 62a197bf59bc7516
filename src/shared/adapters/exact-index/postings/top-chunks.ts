/** Compares chunks of equal score by their slots: below 0 when the first comes first. */
export type CompareSlots = (a: number, b: number) => number;

/** The best chunks so far: at most `limit` of them, the lowest on top of a binary heap. */
export interface TopChunks {
  /** A chunk of a lower score cannot be among the best any more. -Infinity while there are fewer than `limit`. */
  readonly threshold: number;
  /** The last of the best chunks; null while there are fewer than `limit`. */
  readonly lowest: number | null;
  offer(slot: number, score: number): void;
  /** Returns the chunks, best first. */
  take(): { readonly slots: Int32Array; readonly scores: Float64Array };
}

export function createTopChunks(limit: number, compare: CompareSlots): TopChunks {
  const slots = new Int32Array(limit);
  const scores = new Float64Array(limit);
  let size = 0;

  /** Whether the entry at `a` comes after the one at `b`. */
  const isWorse = (a: number, b: number): boolean => {
    const [left, right] = [scores[a] ?? 0, scores[b] ?? 0];
    return left !== right ? left < right : compare(slots[a] ?? 0, slots[b] ?? 0) > 0;
  };
  const swap = (a: number, b: number) => {
    const [slot, score] = [slots[a] ?? 0, scores[a] ?? 0];
    slots[a] = slots[b] ?? 0;
    scores[a] = scores[b] ?? 0;
    slots[b] = slot;
    scores[b] = score;
  };
  const siftUp = (from: number) => {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!isWorse(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  };
  const siftDown = () => {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let worst = at;
      if (left < size && isWorse(left, worst)) worst = left;
      if (right < size && isWorse(right, worst)) worst = right;
      if (worst === at) return;
      swap(at, worst);
      at = worst;
    }
  };

  return {
    get threshold() {
      return size < limit ? -Infinity : (scores[0] ?? 0);
    },
    get lowest() {
      return size < limit || size === 0 ? null : (slots[0] ?? null);
    },
    offer: (slot, score) => {
      if (limit === 0) return;
      if (size < limit) {
        slots[size] = slot;
        scores[size] = score;
        size += 1;
        siftUp(size - 1);
        return;
      }
      const lowest = scores[0] ?? 0;
      if (score < lowest || (score === lowest && compare(slot, slots[0] ?? 0) > 0)) return;
      slots[0] = slot;
      scores[0] = score;
      siftDown();
    },
    take: () => {
      const order = Array.from({ length: size }, (_, i) => i).sort((a, b) => (isWorse(a, b) ? 1 : -1));
      return {
        slots: Int32Array.from(order, (i) => slots[i] ?? 0),
        scores: Float64Array.from(order, (i) => scores[i] ?? 0),
      };
    },
  };
}
