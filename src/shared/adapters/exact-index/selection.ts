/** Decides ties that equal scores and tie keys leave open: negative when `a` goes before `b`. */
export type CompareSlots = (a: number, b: number) => number;

/** Slots and their scores, best first: views, valid until the next selection begins. */
export interface Selected {
  readonly slots: Int32Array;
  readonly scores: Float32Array;
}

/** The best of the slots offered: higher scores first, then lower tie keys, then `compare`. Used again and again. */
export interface Selection {
  /** Starts anew, for the best `limit`. */
  begin(limit: number): void;
  /** Brings `least` and `mostTie` up to the offers so far. */
  tighten(): void;
  /** Offers below this score, or at it with a tie key above `mostTie`, change nothing any more. */
  readonly least: number;
  readonly mostTie: number;
  offer(slot: number, score: number, tie: number): void;
  take(): Selected;
}

/** Offers beyond the limit that pile up before the best are parted from the rest. */
const SPARE = 4_096;
/** Ranges up to this length are sorted by insertion. */
const SHORT = 12;

/** Offers pile up and are parted by quickselect: a heap costs several times as much for each that it takes in. */
export function createSelection(compare: CompareSlots): Selection {
  let slots = new Int32Array(0);
  let scores = new Float32Array(0);
  let ties = new Float64Array(0);
  let scratch = new Float32Array(0);
  let [limit, size] = [0, 0];
  let [least, mostTie] = [-Infinity, Infinity];

  /** Negative when the offer at `at` goes before this one. */
  const order = (at: number, slot: number, score: number, tie: number): number => {
    const itsScore = scores[at] ?? 0;
    if (itsScore !== score) return score - itsScore;
    const itsTie = ties[at] ?? 0;
    return itsTie !== tie ? itsTie - tie : compare(slots[at] ?? 0, slot);
  };

  const set = (at: number, slot: number, score: number, tie: number) => {
    slots[at] = slot;
    scores[at] = score;
    ties[at] = tie;
  };

  const move = (from: number, to: number) => {
    set(to, slots[from] ?? 0, scores[from] ?? 0, ties[from] ?? 0);
  };

  /** Parts a range: all up to the first number returned go before all from the second on, or are equal to them. */
  const part = (low: number, high: number): [number, number] => {
    const middle = (low + high) >> 1;
    const [slot, score, tie] = [slots[middle] ?? 0, scores[middle] ?? 0, ties[middle] ?? 0];
    let [left, right] = [low, high];
    while (left <= right) {
      while (order(left, slot, score, tie) < 0) left += 1;
      while (order(right, slot, score, tie) > 0) right -= 1;
      if (left > right) break;
      const [otherSlot, otherScore, otherTie] = [slots[left] ?? 0, scores[left] ?? 0, ties[left] ?? 0];
      move(right, left);
      set(right, otherSlot, otherScore, otherTie);
      left += 1;
      right -= 1;
    }
    return [right, left];
  };

  /** Puts the one that belongs at `limit - 1` there, and those that go before it before it. */
  const partAll = () => {
    const last = limit - 1;
    for (let [low, high] = [0, size - 1]; low < high;) {
      const [right, left] = part(low, high);
      if (last <= right) high = right;
      else if (last >= left) low = left;
      else break;
    }
    size = limit;
    mostTie = ties[last] ?? 0;
  };

  /** Scores alone decide nearly always, and are parted in a fraction of the time. */
  const tighten = () => {
    if (limit === 0) size = 0;
    if (size < limit || size === 0) return;
    scratch.set(scores.subarray(0, size));
    least = nthHighest(scratch.subarray(0, size), limit - 1);
    let atLeast = 0;
    for (let i = 0; i < size; i += 1) if ((scores[i] ?? 0) >= least) atLeast += 1;
    if (atLeast > limit) {
      partAll();
      return;
    }
    mostTie = -Infinity;
    let kept = 0;
    for (let i = 0; i < size; i += 1) {
      const score = scores[i] ?? 0;
      if (score < least) continue;
      if (score === least) mostTie = Math.max(mostTie, ties[i] ?? 0);
      move(i, kept);
      kept += 1;
    }
    size = kept;
  };

  const sort = (from: number, to: number) => {
    let [low, high] = [from, to];
    while (high - low >= SHORT) {
      const [right, left] = part(low, high);
      // The shorter part first: the stack stays low.
      if (right - low < high - left) {
        sort(low, right);
        low = left;
      } else {
        sort(left, high);
        high = right;
      }
    }
    for (let next = low + 1; next <= high; next += 1) {
      const [slot, score, tie] = [slots[next] ?? 0, scores[next] ?? 0, ties[next] ?? 0];
      let at = next;
      for (; at > low && order(at - 1, slot, score, tie) > 0; at -= 1) move(at - 1, at);
      set(at, slot, score, tie);
    }
  };

  return {
    begin: (most) => {
      [limit, size] = [most, 0];
      [least, mostTie] = [-Infinity, Infinity];
      if (slots.length >= limit + SPARE) return;
      slots = new Int32Array(limit + SPARE);
      scores = new Float32Array(limit + SPARE);
      ties = new Float64Array(limit + SPARE);
      scratch = new Float32Array(limit + SPARE);
    },
    tighten,
    get least() {
      return least;
    },
    get mostTie() {
      return mostTie;
    },
    offer: (slot, score, tie) => {
      if (size === slots.length) tighten();
      set(size, slot, score, tie);
      size += 1;
    },
    take: () => {
      tighten();
      sort(0, size - 1);
      return { slots: slots.subarray(0, size), scores: scores.subarray(0, size) };
    },
  };
}

/** By quickselect (Hoare), which leaves the values in another order. */
function nthHighest(values: Float32Array, index: number): number {
  for (let [low, high] = [0, values.length - 1]; low < high;) {
    const pivot = values[(low + high) >> 1] ?? 0;
    let [left, right] = [low, high];
    while (left <= right) {
      while ((values[left] ?? 0) > pivot) left += 1;
      while ((values[right] ?? 0) < pivot) right -= 1;
      if (left > right) break;
      const value = values[left] ?? 0;
      values[left] = values[right] ?? 0;
      values[right] = value;
      left += 1;
      right -= 1;
    }
    if (index <= right) high = right;
    else if (index >= left) low = left;
    else break;
  }
  return values[index] ?? 0;
}
