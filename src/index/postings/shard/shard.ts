import { coveredShare } from '../../scoring/score.js';
import { packedLength, readTerms } from '../../scoring/packed-terms.js';
import type { TermWeights } from '../../scoring/terms.js';
import { buildSegment, type Steps } from '../build-segment.js';
import {
  addUpSegment,
  scoreSegment,
  scoreCompiled,
  type Collector,
  type TermProducts,
  type Scratch,
} from '../score-segment.js';
import type { MakePostingsKernel } from '../kernel.js';
import { liveFrequencyOf, markDeleted, MAX_SEGMENT_CHUNKS, type Segment } from '../segment.js';
import { createMemtable, type ReadTerms, type Memtable } from './memtable.js';
import type { SlotPositions } from './slot-positions.js';

/** The parts that all shards share. */
export interface ShardParts {
  readonly positions: SlotPositions;
  readonly read: ReadTerms;
  readonly scratch: Scratch;
  readonly makeKernel: MakePostingsKernel;
}

/** An inverted index over the chunks of one partition. */
export interface Shard {
  /** The number of its chunks, and the sum of their lengths in terms. */
  readonly chunks: number;
  readonly totalLength: number;
  add(slots: readonly number[]): void;
  /** The terms of these slots must still be there. */
  remove(slots: readonly number[]): void;
  /** Returns the number of chunks that hold each of these terms. */
  frequenciesOf(terms: readonly number[]): ReadonlyMap<number, number>;
  /** Collects every chunk whose score may reach the threshold. */
  score(query: TermWeights, collector: Collector): void;
  /** Calls `tell` for every chunk that holds a term of a product other than 0, with the sum of its products. */
  addUp(products: TermProducts, tell: (slot: number, sum: number) => void): void;
  /** Puts the memtable into segments, and merges segments. @returns true if nothing is left to be done */
  compact(isTimeLeft: () => boolean): boolean;
  /** True if the memtable has as many chunks as a segment may have. */
  readonly isFull: boolean;
  /** The same as `compact`, as long as it is full. */
  flush(isTimeLeft: () => boolean): boolean;
  /** Lets go of its segments, which the shared positions would hold otherwise. It must hold no chunks any more. */
  close(): void;
}

interface State extends ShardParts {
  readonly segments: Set<Segment>;
  readonly memtable: Memtable;
  merge: Merge | null;
  chunks: number;
  totalLength: number;
}

export function createShard(parts: ShardParts): Shard {
  const state = createState(parts);
  return {
    get chunks() {
      return state.chunks;
    },
    get totalLength() {
      return state.totalLength;
    },
    add: (slots) => {
      for (const slot of slots) add(state, slot);
    },
    remove: (slots) => {
      for (const slot of slots) remove(state, slot);
    },
    frequenciesOf: (terms) => countHolding(state, terms),
    score: (query, collector) => {
      collectFromMemtable(state.memtable, query, collector);
      for (const segment of state.segments)
        if (!scoreCompiled(segment, query, collector)) scoreSegment(segment, query, state.scratch, collector);
    },
    addUp: (products, tell) => {
      addUpMemtable(state.memtable, products, tell);
      for (const segment of state.segments) addUpSegment(segment, products, tell);
    },
    compact: (isTimeLeft) => compact(state, isTimeLeft),
    get isFull() {
      return state.memtable.size >= MAX_SEGMENT_CHUNKS;
    },
    flush: (isTimeLeft) => compact(state, isTimeLeft, MAX_SEGMENT_CHUNKS),
    close: () => {
      for (const segment of state.segments) state.positions.leave(segment);
      state.segments.clear();
      state.merge = null;
    },
  };
}

const createState = (parts: ShardParts): State => ({
  ...parts,
  segments: new Set(),
  memtable: createMemtable(parts),
  merge: null,
  chunks: 0,
  totalLength: 0,
});

function add(state: State, slot: number): void {
  state.memtable.add(slot);
  count(state, slot, 1);
}

function count(state: State, slot: number, sign: 1 | -1): void {
  const packed = state.read(slot);
  state.chunks += sign;
  state.totalLength += sign * (packed ? packedLength(packed) : 0);
}

function remove(state: State, slot: number): void {
  const { positions, memtable } = state;
  const segment = positions.segmentOf(slot);
  count(state, slot, -1);
  if (segment) markDeleted(segment, positions.positionOf(slot));
  else memtable.remove(slot);
}

function countHolding({ segments, memtable }: State, terms: readonly number[]): ReadonlyMap<number, number> {
  const holding = new Map(terms.map((term) => [term, 0]));
  const addTo = (term: number, more: number) => {
    const before = holding.get(term);
    if (before !== undefined) holding.set(term, before + more);
  };
  for (const segment of segments) for (const term of terms) addTo(term, liveFrequencyOf(segment, term));
  // Each chunk is read once, however long the query is.
  memtable.each((_slot, packed) => {
    readTerms(packed, (term) => addTo(term, 1));
  });
  return holding;
}

function collectFromMemtable(memtable: Memtable, query: TermWeights, collector: Collector): void {
  const counts = new Uint8Array(query.terms.length);
  memtable.each((slot, packed) => {
    const score = coveredShare(packed, query, counts);
    if (score > 0) collector.collect(slot, score);
  });
}

function addUpMemtable(
  memtable: Memtable,
  { of, weigh }: TermProducts,
  tell: (slot: number, sum: number) => void,
): void {
  memtable.each((slot, packed) => {
    const length = packedLength(packed);
    let sum = 0;
    readTerms(packed, (term, count) => {
      const product = of(term);
      if (product !== 0) sum += product * weigh(count, length);
    });
    if (sum !== 0) tell(slot, sum);
  });
}

function compact(state: State, isTimeLeft: () => boolean, enough?: number): boolean {
  for (;;) {
    state.merge ??= beginMerge(state, enough);
    if (!state.merge) return true;
    if (state.merge.advance()) state.merge = null;
    if (!isTimeLeft()) return false;
  }
}

function beginMerge(state: State, enough?: number): Merge | null {
  const { segments, memtable, read, makeKernel } = state;
  const sources = planMerge(segments, Math.min(memtable.size, MAX_SEGMENT_CHUNKS), enough);
  if (!sources) return null;
  const sealed = memtable.seal(MAX_SEGMENT_CHUNKS - sources.reduce((sum, { live }) => sum + live, 0));
  return createMerge({ sources, sealed, read, makeKernel }, (origins, segment) => {
    finishMerge(state, { origins, sources, sealed, segment });
  });
}

interface Merged {
  readonly origins: Origins;
  readonly sources: readonly Segment[];
  readonly sealed: readonly number[];
  readonly segment: Segment;
}

/**
 * Puts the new segment in the place of the segments and chunks that it was made of. Chunks that have gone meanwhile are
 * marked in it.
 */
function finishMerge(state: State, { origins, sources, sealed, segment }: Merged): void {
  const { positions, segments, memtable } = state;
  positions.enter(segment);
  for (let ordinal = 0; ordinal < segment.slots.length; ordinal += 1) {
    const slot = segment.slots[ordinal];
    const from = sources[origins.sources[ordinal]]?.slots ?? sealed;
    if (from[origins.positions[ordinal]] === slot) positions.set(slot, segment, ordinal);
    else markDeleted(segment, ordinal);
  }
  memtable.forgetSealed();
  for (const source of sources) {
    segments.delete(source);
    positions.leave(source);
  }
  if (segment.live > 0) segments.add(segment);
  else positions.leave(segment);
}

/** A segment that is being made of others and of chunks of the memtable. */
interface Merge {
  /** Does the next step. @returns true if it was the last one */
  advance(): boolean;
}

/** The places of the new segment's chunks when the merge began, by their ordinals in it. */
interface Origins {
  /** Numbers of sources; the number of the memtable is one more than the last. */
  readonly sources: Uint16Array;
  /** Ordinals within the source, or positions among the sealed chunks. */
  readonly positions: Uint16Array;
}

interface Parts {
  readonly sources: readonly Segment[];
  /** Slots of the chunks that were in the memtable until now; -1 for chunks that have gone. */
  readonly sealed: readonly number[];
  readonly read: ReadTerms;
  readonly makeKernel: MakePostingsKernel;
}

/** Chunks that are gathered in one step. */
const GATHERED_AT_ONCE = 2_048;
const NO_TERMS = new Uint8Array(0);

/** @param finish gets the new segment with the last step. Chunks may have gone since it was begun */
function createMerge(parts: Parts, finish: (origins: Origins, segment: Segment) => void): Merge {
  const steps = merge(parts, finish);
  return { advance: () => steps.next().done === true };
}

function* merge(
  { sources, sealed, read, makeKernel }: Parts,
  finish: (origins: Origins, segment: Segment) => void,
): Steps<void> {
  const size = sources.reduce((sum, { live }) => sum + live, sealed.length);
  const gathered: Gathered = {
    sources: new Uint16Array(size),
    positions: new Uint16Array(size),
    slots: new Int32Array(size),
    packed: [],
  };
  for (const [number, from] of [...sources.map(({ slots }) => slots), sealed].entries()) {
    for (let first = 0; first < from.length; first += GATHERED_AT_ONCE) {
      gather(gathered, { number, from, first, read });
      yield;
    }
  }
  const { slots, packed } = gathered;
  const segment = yield* buildSegment(slots.slice(0, packed.length), packed, makeKernel);
  yield;
  finish(gathered, segment);
}

interface Gathered extends Origins {
  readonly slots: Int32Array;
  readonly packed: Uint8Array[];
}

interface Gathering extends Pick<Parts, 'read'> {
  readonly number: number;
  /** The slots of the source. */
  readonly from: ArrayLike<number>;
  readonly first: number;
}

function gather(
  { sources, positions, slots, packed }: Gathered,
  { number, from, first, read }: Gathering,
): void {
  const end = Math.min(first + GATHERED_AT_ONCE, from.length);
  for (let position = first; position < end; position += 1) {
    const slot = from[position];
    if (slot < 0) continue;
    sources[packed.length] = number;
    positions[packed.length] = position;
    slots[packed.length] = slot;
    // The terms of a slot are not overwritten, even if the slot gets another chunk meanwhile.
    packed.push(read(slot) ?? NO_TERMS);
  }
}

/** A memtable of at least this many chunks is made a segment: scoring them one by one takes some tens of microseconds. */
const MAX_MEMTABLE = 64;

/**
 * Returns the segments that become one with the memtable: from the smallest on, each that is no larger than all before it
 * together. So sizes grow like powers of two, and a chunk is written as often as its number has binary digits. Segments
 * that have lost half of their chunks are written anew.
 *
 * @param open the number of open chunks of the memtable
 * @param enough at least this many must be open, unless a segment is to be written anew
 * @returns null when nothing is to be done
 */
function planMerge(
  segments: Iterable<Segment>,
  open: number,
  enough: number = MAX_MEMTABLE,
): readonly Segment[] | null {
  const ascending = [...segments].sort((a, b) => a.live - b.live);
  const merged: Segment[] = ascending.filter(isHalfGone);
  if (open < enough && merged.length === 0) return null;
  let total = open + merged.reduce((sum, { live }) => sum + live, 0);
  // Segments that do not fit the new one are left for the next merge.
  while (total > MAX_SEGMENT_CHUNKS && merged.length > 1) total -= merged.pop()?.live ?? 0;
  for (const segment of ascending) {
    if (isHalfGone(segment)) continue;
    if (segment.live > total || total + segment.live > MAX_SEGMENT_CHUNKS) break;
    merged.push(segment);
    total += segment.live;
  }
  return merged;
}

const isHalfGone = ({ live, slots }: Segment): boolean => live <= slots.length / 2;
