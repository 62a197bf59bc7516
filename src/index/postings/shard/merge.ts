import { buildSegment, type Steps } from '../build-segment.js';
import type { MakePostingsKernel } from '../kernel.js';
import { MAX_SEGMENT_CHUNKS, type Segment } from '../segment.js';
import type { ReadTerms } from './memtable.js';

/** A segment that is being made of others and of chunks of the memtable. */
export interface Merge {
  /** Does the next step. @returns true if it was the last one */
  advance(): boolean;
}

/** The places of the new segment's chunks when the merge began, by their ordinals in it. */
export interface Origins {
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
export function createMerge(parts: Parts, finish: (origins: Origins, segment: Segment) => void): Merge {
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
    const slot = from[position] ?? -1;
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
export function planMerge(
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
