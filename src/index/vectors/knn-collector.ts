/** Orders slots of equal scores: negative when `a` goes before `b`. */
export type CompareSlots = (a: number, b: number) => number;

/** Slots and their scores, best first. They are views that are valid until the collector begins anew. */
export interface Selected {
  readonly slots: Int32Array;
  readonly scores: Float32Array;
}

/** Collects the best of the slots that it is given: higher scores first, then lower tie keys, then `compare`. It is reused. */
export interface KnnCollector {
  /** Starts anew, to select the best `limit`. */
  begin(limit: number): void;
  /** Updates `minScore` and `maxTie` from the slots that were collected so far. */
  tighten(): void;
  /** A slot below `minScore`, or equal to it with a tie key above `maxTie`, cannot be among the best any more. */
  readonly minScore: number;
  readonly maxTie: number;
  collect(slot: number, score: number, tie: number): void;
  take(): Selected;
}

/** This many slots beyond the limit pile up before all but the best are dropped. */
const SPARE = 4_096;

/** The slots that were collected so far, in columns of which the first `size` places are used. */
interface Collected {
  slots: Int32Array;
  scores: Float32Array;
  ties: Float64Array;
  /** Space for a copy of the scores or tie keys, in which the threshold is searched. */
  scratch: Float64Array;
  size: number;
}

/** The score and the tie key that a slot must reach to be among the best `limit`. */
interface Threshold {
  limit: number;
  minScore: number;
  maxTie: number;
}

/**
 * Slots pile up, and a quickselect over their scores finds the slots to keep. A heap would cost several times as much for
 * each slot that it takes in.
 */
export function createKnnCollector(compare: CompareSlots): KnnCollector {
  const collected = makeColumns(0);
  const threshold: Threshold = { limit: 0, minScore: -Infinity, maxTie: Infinity };
  const tighten = () => {
    keepBest(collected, threshold, compare);
  };
  return {
    begin: (limit) => {
      Object.assign(threshold, { limit, minScore: -Infinity, maxTie: Infinity });
      collected.size = 0;
      if (collected.slots.length < limit + SPARE) Object.assign(collected, makeColumns(limit + SPARE));
    },
    tighten,
    get minScore() {
      return threshold.minScore;
    },
    get maxTie() {
      return threshold.maxTie;
    },
    collect: (slot, score, tie) => {
      if (collected.size === collected.slots.length) tighten();
      const { slots, scores, ties, size } = collected;
      slots[size] = slot;
      scores[size] = score;
      ties[size] = tie;
      collected.size = size + 1;
    },
    take: () => {
      tighten();
      arrange(collected, placesInOrder(collected, compare));
      const { slots, scores, size } = collected;
      return { slots: slots.subarray(0, size), scores: scores.subarray(0, size) };
    },
  };
}

/** Drops all but the best `limit`, and raises the threshold to the last of them. */
function keepBest(collected: Collected, threshold: Threshold, compare: CompareSlots): void {
  const { limit } = threshold;
  if (limit === 0) collected.size = 0;
  if (collected.size < limit || collected.size === 0) return;
  const [minScore, maxTie] = thresholdOf(collected, limit);
  threshold.minScore = minScore;
  threshold.maxTie = maxTie;
  dropBelow(collected, minScore, maxTie);
  // The slots that are left over equal the last of the best in score and tie key.
  if (collected.size <= limit) return;
  arrange(collected, placesInOrder(collected, compare).subarray(0, limit));
}

function makeColumns(room: number): Collected {
  return {
    slots: new Int32Array(room),
    scores: new Float32Array(room),
    ties: new Float64Array(room),
    scratch: new Float64Array(room),
    size: 0,
  };
}

/** Score and tie key of the last among the best `limit`; there must be at least `limit`. */
function thresholdOf(
  { scores, ties, scratch, size }: Collected,
  limit: number,
): [minScore: number, maxTie: number] {
  const values = scratch.subarray(0, size);
  values.set(scores.subarray(0, size));
  const minScore = nthHighest(values, limit - 1);
  let [above, equal] = [0, 0];
  for (let i = 0; i < size; i += 1) {
    const score = scores[i];
    if (score > minScore) above += 1;
    if (score !== minScore) continue;
    scratch[equal] = -ties[i];
    equal += 1;
  }
  return [minScore, -nthHighest(scratch.subarray(0, equal), limit - above - 1)];
}

function dropBelow(collected: Collected, minScore: number, maxTie: number): void {
  const { slots, scores, ties, size } = collected;
  let kept = 0;
  for (let i = 0; i < size; i += 1) {
    const [score, tie] = [scores[i], ties[i]];
    if (score < minScore || (score === minScore && tie > maxTie)) continue;
    slots[kept] = slots[i];
    scores[kept] = score;
    ties[kept] = tie;
    kept += 1;
  }
  collected.size = kept;
}

/** Returns the places of all slots, the best first. */
function placesInOrder({ slots, scores, ties, size }: Collected, compare: CompareSlots): Uint32Array {
  const places = new Uint32Array(size);
  for (let i = 0; i < size; i += 1) places[i] = i;
  return places.sort((a, b) => {
    const byScore = scores[b] - scores[a];
    if (byScore !== 0) return byScore;
    const byTie = ties[a] - ties[b];
    return byTie !== 0 ? byTie : compare(slots[a], slots[b]);
  });
}

/** Keeps the slots at these places, in this order. */
function arrange(collected: Collected, places: Uint32Array): void {
  const slots = collected.slots.slice(0, collected.size);
  const scores = collected.scores.slice(0, collected.size);
  const ties = collected.ties.slice(0, collected.size);
  for (let i = 0; i < places.length; i += 1) {
    const place = places[i];
    collected.slots[i] = slots[place];
    collected.scores[i] = scores[place];
    collected.ties[i] = ties[place];
  }
  collected.size = places.length;
}

/**
 * Returns the value that would stand at `index` if the values were sorted from high to low (Hoare, "Algorithm 65: Find",
 * 1961). Reorders the values.
 */
function nthHighest(values: Float64Array, index: number): number {
  for (let [low, high] = [0, values.length - 1]; low < high;) {
    const pivot = values[(low + high) >> 1];
    let [left, right] = [low, high];
    while (left <= right) {
      while (values[left] > pivot) left += 1;
      while (values[right] < pivot) right -= 1;
      if (left > right) break;
      const value = values[left];
      values[left] = values[right];
      values[right] = value;
      left += 1;
      right -= 1;
    }
    if (index <= right) high = right;
    else if (index >= left) low = left;
    else break;
  }
  return values[index];
}
