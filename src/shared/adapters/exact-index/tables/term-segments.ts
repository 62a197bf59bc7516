import type { TermWeights } from '../../../ports.js';
import { coveredShare, lengthDamping } from '../../../search/bm25.js';
import { packedLength, readTerms } from '../../../text/terms.js';
import { grown } from './columns.js';

/** Chunks of a segment: as many are read one by one while they wait to become one. */
const SEGMENT_CHUNKS = 1_024;
/** A posting is one double while it is sorted: its term above, then its chunk's ordinal, its count below. */
const COUNT = 2 ** 8;
const ORDINAL = SEGMENT_CHUNKS * COUNT;

type ReadTerms = (slot: number) => Uint8Array | null;
type TellShare = (slot: number, share: number) => void;

/** Which chunks hold which terms, how often, by slot: an inverted index in segments that are never changed. */
export interface TermSegments {
  add(slot: number, packed: Uint8Array): void;
  /** Does nothing where the slot was not added. */
  remove(slot: number): void;
  /** Tells of every slot that holds a term of the query, once, with the share of their weight that its chunk covers. */
  score(query: TermWeights, tell: TellShare): void;
}

interface Segment {
  /** By ordinal; -1 where the chunk is gone. */
  readonly slots: Int32Array;
  /** Lengths of the chunks, in terms. */
  readonly lengths: Uint32Array;
  /** Ascending; the postings of each begin at its start and end at the next one's. */
  readonly terms: Uint32Array;
  readonly starts: Uint32Array;
  readonly ordinals: Uint16Array;
  readonly counts: Uint8Array;
  live: number;
}

interface State {
  readonly read: ReadTerms;
  readonly segments: Map<number, Segment>;
  nextSegment: number;
  /** Slots in no segment yet. */
  readonly open: number[];
  /** By slot, counted from 1: the place in `open`, below 0, or in a segment; 0 for none. */
  places: Int32Array<ArrayBuffer>;
}

/** @param read packed terms of a slot that was added */
export function createTermSegments(read: ReadTerms): TermSegments {
  const state: State = { read, segments: new Map(), nextSegment: 0, open: [], places: new Int32Array(0) };
  const shares = new Float64Array(SEGMENT_CHUNKS);
  return {
    add: (slot, packed) => {
      if (packed.length > 0) put(state, slot);
    },
    remove: (slot) => {
      const place = state.places[slot] ?? 0;
      if (place === 0) return;
      setPlace(state, slot, 0);
      if (place < 0) takeFromOpen(state, -place - 1);
      else takeFromSegment(state, place - 1);
    },
    score: (query, tell) => {
      scoreOpen(state, query, tell);
      for (const segment of state.segments.values()) scoreSegment(segment, query, { shares, tell });
    },
  };
}

function setPlace(state: State, slot: number, place: number): void {
  state.places = grown(state.places, slot + 1);
  state.places[slot] = place;
}

function put(state: State, slot: number): void {
  setPlace(state, slot, -state.open.push(slot));
  if (state.open.length === SEGMENT_CHUNKS) seal(state);
}

/** Makes the open slots a segment. */
function seal(state: State): void {
  const { segments, open } = state;
  const number = state.nextSegment;
  segments.set(number, makeSegment(open, state.read));
  for (const [ordinal, slot] of open.entries()) setPlace(state, slot, number * SEGMENT_CHUNKS + ordinal + 1);
  open.length = 0;
  // Numbers of segments that are gone are given again, so that places stay small.
  while (segments.has(state.nextSegment)) state.nextSegment += 1;
}

function takeFromOpen(state: State, place: number): void {
  const { open } = state;
  const last = open.pop();
  if (last === undefined || place === open.length) return;
  open[place] = last;
  setPlace(state, last, -(place + 1));
}

function takeFromSegment(state: State, place: number): void {
  const number = Math.floor(place / SEGMENT_CHUNKS);
  const segment = state.segments.get(number);
  if (!segment) return;
  segment.slots[place % SEGMENT_CHUNKS] = -1;
  segment.live -= 1;
  if (segment.live > SEGMENT_CHUNKS / 2) return;
  state.segments.delete(number);
  state.nextSegment = Math.min(state.nextSegment, number);
  for (const slot of segment.slots) if (slot >= 0) put(state, slot);
}

/** Scores slots that are in no segment yet, one by one. */
function scoreOpen({ open, read }: State, query: TermWeights, tell: TellShare): void {
  const counts = new Uint8Array(query.terms.length);
  for (const slot of open) {
    const packed = read(slot);
    const share = packed ? coveredShare(packed, query, counts) : 0;
    if (share > 0) tell(slot, share);
  }
}

function makeSegment(slots: readonly number[], read: ReadTerms): Segment {
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
    slots: Int32Array.from(slots),
    lengths,
    ordinals,
    counts,
    live: slots.length,
    terms: Uint32Array.from(terms),
    starts: Uint32Array.from(starts),
  };
}

/**
 * Adds up term by term, in the order in which `coveredShare` does. Here and in `firstFrom`, `?? 0` stands where a number is
 * known to be there: a check would slow the loops down.
 */
function scoreSegment(
  { slots, lengths, terms, starts, ordinals, counts }: Segment,
  query: TermWeights,
  { shares, tell }: { readonly shares: Float64Array; readonly tell: TellShare },
): void {
  shares.fill(0);
  let low = 0;
  for (let place = 0; place < query.terms.length; place += 1) {
    const term = query.terms[place] ?? 0;
    low = firstFrom(terms, term, low);
    if (terms[low] !== term) continue;
    const weight = query.weights[place] ?? 0;
    const end = starts[low + 1] ?? 0;
    for (let at = starts[low] ?? 0; at < end; at += 1) {
      const ordinal = ordinals[at] ?? 0;
      const count = counts[at] ?? 0;
      const damping = lengthDamping(lengths[ordinal] ?? 0, query.averageLength);
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
