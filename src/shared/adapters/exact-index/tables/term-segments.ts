import type { TermWeights } from '../../../ports.js';
import { coveredShare, lengthDamping } from '../../../search/bm25.js';
import { packedLength, readTerms } from '../../../text/packed-terms.js';
import { growColumn } from './grow-column.js';

/** Chunks of a segment. Up to this many chunks wait outside of segments and are scored one by one. */
const SEGMENT_CHUNKS = 1_024;
/** While postings are sorted, each is one double: the term is above, the chunk's ordinal below it, the count at the bottom. */
const COUNT = 2 ** 8;
const ORDINAL = SEGMENT_CHUNKS * COUNT;

type ReadTerms = (slot: number) => Uint8Array | null;
type TellShare = (slot: number, share: number) => void;

/** An inverted index by slot: which chunks hold which terms, and how often. Its segments are never changed. */
export interface TermSegments {
  add(slot: number, packed: Uint8Array): void;
  /** Does nothing for slots that were not added. */
  remove(slots: readonly number[]): void;
  /** Calls `tell` once for every slot that holds a term of the query, with the BM25 score of its chunk in [0, 1]. */
  score(query: TermWeights, tell: TellShare): void;
}

interface Segment {
  /** Slots by ordinal; -1 where the chunk is gone. */
  readonly slots: Int32Array;
  /** Lengths of the chunks by ordinal, in terms. */
  readonly lengths: Uint32Array;
  /** Ascending. The postings of a term begin at its start and end at the next term's start. */
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
  /** Slots that are in no segment yet. */
  readonly open: number[];
  /** By slot, counting from 1: the place in a segment, or negative the place in `open`; 0 for none. */
  places: Int32Array<ArrayBuffer>;
}

/** @param read returns the packed terms of a slot that was added */
export function createTermSegments(read: ReadTerms): TermSegments {
  const state: State = { read, segments: new Map(), nextSegment: 0, open: [], places: new Int32Array(0) };
  const shares = new Float64Array(SEGMENT_CHUNKS);
  return {
    add: (slot, packed) => {
      if (packed.length > 0) put(state, slot);
    },
    remove: (slots) => remove(state, slots),
    score: (query, tell) => {
      scoreOpen(state, query, tell);
      for (const segment of state.segments.values()) scoreSegment(segment, query, { shares, tell });
    },
  };
}

function setPlace(state: State, slot: number, place: number): void {
  state.places = growColumn(state.places, slot + 1);
  state.places[slot] = place;
}

function put(state: State, slot: number): void {
  setPlace(state, slot, -state.open.push(slot));
  if (state.open.length === SEGMENT_CHUNKS) seal(state);
}

/** Makes a segment of the open slots. */
function seal(state: State): void {
  const { segments, open } = state;
  const number = state.nextSegment;
  segments.set(number, makeSegment(open, state.read));
  for (const [ordinal, slot] of open.entries()) setPlace(state, slot, number * SEGMENT_CHUNKS + ordinal + 1);
  open.length = 0;
  // Numbers of removed segments are used again, so that places stay small.
  while (segments.has(state.nextSegment)) state.nextSegment += 1;
}

/** Takes out all slots before it rewrites anything, since those of a document mostly are in the same segments. */
function remove(state: State, slots: readonly number[]): void {
  const touched = new Set<number>();
  for (const slot of slots) {
    const place = state.places[slot] ?? 0;
    if (place === 0) continue;
    setPlace(state, slot, 0);
    if (place < 0) {
      takeFromOpen(state, -place - 1);
      continue;
    }
    const number = Math.floor((place - 1) / SEGMENT_CHUNKS);
    const segment = state.segments.get(number);
    if (!segment) continue;
    takeFromSegment(segment, place - 1);
    touched.add(number);
  }
  for (const number of touched) dissolve(state, number);
}

function takeFromOpen(state: State, place: number): void {
  const { open } = state;
  const last = open.pop();
  if (last === undefined || place === open.length) return;
  open[place] = last;
  setPlace(state, last, -(place + 1));
}

function takeFromSegment(segment: Segment, place: number): void {
  segment.slots[place % SEGMENT_CHUNKS] = -1;
  segment.live -= 1;
}

/** Dissolves a segment that has lost half of its chunks; the others wait to be in another. */
function dissolve(state: State, number: number): void {
  const segment = state.segments.get(number);
  if (!segment || segment.live > SEGMENT_CHUNKS / 2) return;
  state.segments.delete(number);
  state.nextSegment = Math.min(state.nextSegment, number);
  for (const slot of segment.slots) if (slot >= 0) put(state, slot);
}

/** Scores the slots that are in no segment yet, one by one. */
function scoreOpen({ open, read }: State, query: TermWeights, tell: TellShare): void {
  const counts = new Uint8Array(query.terms.length);
  for (const slot of open) {
    const packed = read(slot);
    const share = packed ? coveredShare(packed, query, counts) : 0;
    if (share > 0) tell(slot, share);
  }
}

/** The postings of all slots in the order of the slots. Also writes down how long the chunks are. */
function readPostings(slots: readonly number[], read: ReadTerms, lengths: Uint32Array): Float64Array {
  const all = slots.map(read);
  const bytes = all.reduce((sum, packed) => sum + (packed?.length ?? 0), 0);
  // No term takes fewer bytes than a number and a count.
  const postings = new Float64Array(Math.floor(bytes / 5));
  let size = 0;
  for (const [ordinal, packed] of all.entries()) {
    if (!packed) continue;
    lengths[ordinal] = packedLength(packed);
    readTerms(packed, (term, count) => {
      postings[size] = term * ORDINAL + ordinal * COUNT + count;
      size += 1;
    });
  }
  return postings.subarray(0, size);
}

function makeSegment(slots: readonly number[], read: ReadTerms): Segment {
  const lengths = new Uint32Array(SEGMENT_CHUNKS);
  const sorted = readPostings(slots, read, lengths).sort();
  const ordinals = new Uint16Array(sorted.length);
  const counts = new Uint8Array(sorted.length);
  const terms: number[] = [];
  const starts: number[] = [];
  let last = -1;
  for (let at = 0; at < sorted.length; at += 1) {
    const posting = sorted[at] ?? 0;
    const term = Math.floor(posting / ORDINAL);
    const rest = posting - term * ORDINAL;
    if (term !== last) {
      last = term;
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
 * Adds up scores term by term, in the same order as `coveredShare`. Here and in `firstFrom`, `?? 0` reads numbers that are
 * known to be there, because a check would slow the loops down.
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

/** The place, from `low` on, of the first value that is not below `wanted`. */
function firstFrom(values: Uint32Array, wanted: number, low: number): number {
  let [from, to] = [low, values.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((values[middle] ?? 0) < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}
