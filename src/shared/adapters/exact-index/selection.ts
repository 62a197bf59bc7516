/** Decides ties that equal scores and tie keys leave open: negative when `a` goes before `b`. */
export type CompareSlots = (a: number, b: number) => number;

/**
 * The best `limit` slots of those offered: higher scores first, then lower tie keys, then `compare`. A binary heap with
 * the worst on top.
 */
export interface Selection {
  /** Offers below this score, or at it with a tie key above `mostTie`, change nothing any more. */
  readonly least: number;
  readonly mostTie: number;
  offer(slot: number, score: number, tie: number): void;
  /** Empties the selection, best first. */
  take(): { slot: number; score: number }[];
}

export function createSelection(limit: number, compare: CompareSlots): Selection {
  const slots = new Int32Array(limit);
  const scores = new Float32Array(limit);
  const ties = new Float64Array(limit);
  let size = 0;

  const at = (values: Int32Array | Float32Array | Float64Array, index: number) => values[index] ?? 0;

  const isWorse = (a: number, b: number) =>
    at(scores, a) !== at(scores, b)
      ? at(scores, a) < at(scores, b)
      : at(ties, a) !== at(ties, b)
        ? at(ties, a) > at(ties, b)
        : compare(at(slots, a), at(slots, b)) > 0;

  const set = (index: number, slot: number, score: number, tie: number) => {
    slots[index] = slot;
    scores[index] = score;
    ties[index] = tie;
  };

  const swap = (a: number, b: number) => {
    const [slot, score, tie] = [at(slots, a), at(scores, a), at(ties, a)];
    set(a, at(slots, b), at(scores, b), at(ties, b));
    set(b, slot, score, tie);
  };

  const rise = (index: number) => {
    for (let child = index; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isWorse(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  };

  const sink = () => {
    for (let parent = 0; ;) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      if (left >= size) return;
      const child = right < size && isWorse(right, left) ? right : left;
      if (!isWorse(child, parent)) return;
      swap(child, parent);
      parent = child;
    }
  };

  const isBetterThanWorst = (slot: number, score: number, tie: number) =>
    score !== at(scores, 0)
      ? score > at(scores, 0)
      : tie !== at(ties, 0)
        ? tie < at(ties, 0)
        : compare(slot, at(slots, 0)) < 0;

  return {
    get least() {
      return size < limit ? -Infinity : at(scores, 0);
    },
    get mostTie() {
      return size < limit ? Infinity : at(ties, 0);
    },
    offer: (slot, score, tie) => {
      if (size < limit) {
        set(size, slot, score, tie);
        size += 1;
        rise(size - 1);
      } else if (isBetterThanWorst(slot, score, tie)) {
        set(0, slot, score, tie);
        sink();
      }
    },
    take: () => {
      const taken: { slot: number; score: number }[] = [];
      while (size > 0) {
        taken.push({ slot: at(slots, 0), score: at(scores, 0) });
        size -= 1;
        swap(0, size);
        sink();
      }
      return taken.reverse();
    },
  };
}
