import type { WeightedWords } from '../../ports.js';
import { coveredShare, lengthDamping } from '../../ranking.js';
import { packedLength, readTerms } from '../../terms.js';
import { grown } from './columns.js';

/** Chunks of a segment: as many are read one by one while they wait to become one. */
const SEGMENT_CHUNKS = 1_024;
/** Of a posting while it is sorted, in one double: its term above, its chunk's ordinal, its count below. */
const COUNT = 2 ** 8;
const ORDINAL = SEGMENT_CHUNKS * COUNT;

/** Which chunks hold which terms, how often, by slot: an inverted index in segments that are never changed. */
export interface WordSegments {
  add(slot: number, packed: Uint8Array): void;
  /** Does nothing where the slot was not added. */
  remove(slot: number): void;
  /** Tells of every slot that holds one of the words, once, and of the share of their weight that its chunk covers. */
  score(words: WeightedWords, tell: (slot: number, share: number) => void): void;
}

interface Segment {
  /** By ordinal; -1 where the chunk is gone. */
  readonly slots: Int32Array;
  /** Of the chunks, in terms. */
  readonly lengths: Uint32Array;
  /** Ascending; the postings of each begin at its start and end at the next one's. */
  readonly terms: Uint32Array;
  readonly starts: Uint32Array;
  readonly ordinals: Uint16Array;
  readonly counts: Uint8Array;
  live: number;
}

/** @param read packed terms of a slot that was added */
export function createWordSegments(read: (slot: number) => Uint8Array | null): WordSegments {
  const segments = new Map<number, Segment>();
  let nextSegment = 0;
  /** Slots in no segment yet. */
  const open: number[] = [];
  /** By slot, counted from 1: the place in `open`, below 0, or in a segment; 0 for none. */
  let places = new Int32Array(0);
  const shares = new Float64Array(SEGMENT_CHUNKS);

  const place = (slot: number, at: number) => {
    places = grown(places, slot + 1);
    places[slot] = at;
  };

  const seal = () => {
    const number = nextSegment;
    // Numbers of segments that are gone are given again, so that places stay small.
    for (nextSegment += 1; segments.has(nextSegment);) nextSegment += 1;
    segments.set(number, makeSegment(open, read));
    for (const [ordinal, slot] of open.entries()) place(slot, number * SEGMENT_CHUNKS + ordinal + 1);
    open.length = 0;
  };

  const put = (slot: number) => {
    place(slot, -open.push(slot));
    if (open.length === SEGMENT_CHUNKS) seal();
  };

  const takeFromOpen = (at: number) => {
    const last = open.pop();
    if (last === undefined || at === open.length) return;
    open[at] = last;
    place(last, -(at + 1));
  };

  const takeFromSegment = (at: number) => {
    const number = Math.floor(at / SEGMENT_CHUNKS);
    const segment = segments.get(number);
    if (!segment) return;
    segment.slots[at % SEGMENT_CHUNKS] = -1;
    segment.live -= 1;
    if (segment.live > SEGMENT_CHUNKS / 2) return;
    segments.delete(number);
    nextSegment = Math.min(nextSegment, number);
    for (const slot of segment.slots) if (slot >= 0) put(slot);
  };

  return {
    add: (slot, packed) => {
      if (packed.length > 0) put(slot);
    },
    remove: (slot) => {
      const at = places[slot] ?? 0;
      if (at === 0) return;
      place(slot, 0);
      if (at < 0) takeFromOpen(-at - 1);
      else takeFromSegment(at - 1);
    },
    score: (words, tell) => {
      const counts = new Uint8Array(words.terms.length);
      for (const slot of open) {
        const packed = read(slot);
        const share = packed ? coveredShare(packed, words, counts) : 0;
        if (share > 0) tell(slot, share);
      }
      for (const segment of segments.values()) scoreSegment(segment, words, { shares, tell });
    },
  };
}

function makeSegment(slots: readonly number[], read: (slot: number) => Uint8Array | null): Segment {
  const lengths = new Uint32Array(SEGMENT_CHUNKS);
  const postings: number[] = [];
  for (const [ordinal, slot] of slots.entries()) {
    const packed = read(slot);
    if (!packed) continue;
    lengths[ordinal] = packedLength(packed);
    readTerms(packed, (term, count) => postings.push(term * ORDINAL + ordinal * COUNT + count));
  }
  const sorted = Float64Array.from(postings).sort();
  const ordinals = new Uint16Array(sorted.length);
  const counts = new Uint8Array(sorted.length);
  const terms: number[] = [];
  const starts: number[] = [];
  for (let at = 0; at < sorted.length; at += 1) {
    const posting = sorted[at] ?? 0;
    const term = Math.floor(posting / ORDINAL);
    const rest = posting - term * ORDINAL;
    if (term !== terms.at(-1)) {
      terms.push(term);
      starts.push(at);
    }
    ordinals[at] = rest >>> 8;
    counts[at] = rest & (COUNT - 1);
  }
  starts.push(sorted.length);
  return {
    ...{ slots: Int32Array.from(slots), lengths, ordinals, counts, live: slots.length },
    ...{ terms: Uint32Array.from(terms), starts: Uint32Array.from(starts) },
  };
}

/** Term by term, in the order in which `coveredShare` adds up. */
function scoreSegment(
  { slots, lengths, terms, starts, ordinals, counts }: Segment,
  words: WeightedWords,
  { shares, tell }: { readonly shares: Float64Array; readonly tell: (slot: number, share: number) => void },
): void {
  shares.fill(0);
  let low = 0;
  for (let word = 0; word < words.terms.length; word += 1) {
    const term = words.terms[word] ?? 0;
    low = firstFrom(terms, term, low);
    if (terms[low] !== term) continue;
    const weight = words.weights[word] ?? 0;
    const end = starts[low + 1] ?? 0;
    for (let at = starts[low] ?? 0; at < end; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      const count = counts[at] ?? 0;
      const damping = lengthDamping(lengths[ordinal] ?? 0, words.averageLength);
      shares[ordinal] = (shares[ordinal] ?? 0) + (weight * count) / (count + damping);
    }
  }
  for (let ordinal = 0; ordinal < slots.length; ordinal += 1) {
    const share = shares[ordinal] ?? 0;
    const slot = slots[ordinal] ?? -1;
    if (share > 0 && slot >= 0) tell(slot, Math.min(1, share));
  }
}

/** Place of the first value, of those from `low` on, that is not below `wanted`. */
function firstFrom(values: Uint32Array, wanted: number, low: number): number {
  let [from, to] = [low, values.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((values[middle] ?? 0) < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}
