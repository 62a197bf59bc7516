import { lengthDamping } from '../scoring/score.js';
import type { PostingsKernel } from './kernel.js';

/** Chunks of a segment at most, so that an ordinal fits two bytes. */
export const MAX_SEGMENT_CHUNKS = 2 ** 15;
/** Ordinals of a window. Bounds are kept for each window, and scores are added up within one. */
export const WINDOW = 4_096;
/** Terms that fewer chunks hold have no bounds for windows: their postings are few enough to be looked at. */
export const MIN_WINDOWED = 64;
/** A longer chunk counts as one of this length where bounds are concerned, which only makes them higher. */
const MAX_BOUND_LENGTH = 2 ** 16 - 1;

/**
 * An immutable part of an inverted index: the chunks that hold each term, and how often they do. Chunks are numbered by
 * ordinals from 0, and the postings of a term ascend by ordinal, three bytes each. Only its live docs change
 * (`markDeleted`).
 *
 * For each term, and for each window of a common term, it keeps the highest count and the smallest length of the chunks
 * that hold it. From these follows an upper bound of the number that the term adds to a score, for all weights and average
 * lengths of queries (block maxima as in Ding and Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011).
 */
export interface Segment {
  /** Slots by ordinal; -1 where the chunk is gone. */
  readonly slots: Int32Array;
  /** Lengths of the chunks by ordinal, in terms. */
  readonly lengths: Uint32Array;
  /** Ascending. The postings of a term begin at its start and end at the next term's start. */
  readonly terms: Uint32Array;
  readonly starts: Uint32Array;
  readonly ordinals: Uint16Array;
  readonly counts: Uint8Array;
  /** By term. */
  readonly bounds: Bounds;
  readonly windows: number;
  /** By term: where its bounds by window begin in the table; -1 for a term that has none. */
  readonly tables: Int32Array;
  /** The bounds of each common term and window. */
  readonly windowBounds: Bounds;
  /** The place where the term's postings in the window end. */
  readonly windowEnds: Uint32Array;
  /** The kernel's memory, where scores are added up in compiled code; null for a segment of one window. */
  readonly compiled: CompiledSegment | null;
  /** The number of chunks that are not gone. */
  live: number;
  /** The number of live chunks that hold a term, by its place; known for terms that were asked for since a chunk went away. */
  readonly liveFrequencies: Map<number, number>;
}

/** A segment whose columns are in the memory of a kernel. */
export interface CompiledSegment extends Pick<PostingsKernel, 'advance'> {
  /** The place in memory where the kernel finds it. */
  readonly pointer: number;
  /** The lists of a query, as numbers of either kind; `LIST` says which field is which. */
  readonly lists: { readonly floats: Float32Array; readonly integers: Int32Array };
  /** The chunks that were found in a window: their places in it, and their sums. */
  readonly found: { readonly places: Uint16Array; readonly sums: Float32Array };
}

/** The highest count of a term and the smallest length of a chunk, of some of the chunks that hold the term. */
export interface Bounds {
  readonly counts: Uint8Array;
  readonly lengths: Uint16Array;
}

export const makeBounds = (size: number): Bounds => emptyBounds(new Uint8Array(size), new Uint16Array(size));

/** @param counts all 0 */
export const emptyBounds = (counts: Uint8Array, lengths: Uint16Array): Bounds => ({
  counts,
  lengths: lengths.fill(MAX_BOUND_LENGTH),
});

/** Returns the highest value of `count / (count + damping)` among the chunks of these bounds. */
export function highestShare({ counts, lengths }: Bounds, place: number, averageLength: number): number {
  const count = counts[place];
  return count === 0 ? 0 : count / (count + lengthDamping(lengths[place], averageLength));
}

/** Takes a posting into the bounds. */
export function widenBounds({ counts, lengths }: Bounds, place: number, count: number, length: number): void {
  if (count > counts[place]) counts[place] = count;
  if (length < lengths[place]) lengths[place] = length;
}

/** Returns the place of a term; -1 when no chunk of the segment ever held it. */
export function placeOf({ terms }: Pick<Segment, 'terms'>, term: number): number {
  let [from, to] = [0, terms.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (terms[middle] < term) from = middle + 1;
    else to = middle;
  }
  return terms[from] === term ? from : -1;
}

/** The live chunks of a segment: a chunk that is gone has the slot -1, while its postings stay until the next merge. */
type LiveDocs = Pick<Segment, 'slots' | 'live' | 'liveFrequencies'>;

/** Returns the number of live chunks that hold a term. */
export function liveFrequencyOf(segment: Segment, term: number): number {
  const place = placeOf(segment, term);
  if (place < 0) return 0;
  const { starts, ordinals, slots, live, liveFrequencies } = segment;
  const [start, end] = [starts[place], starts[place + 1]];
  if (live === slots.length) return end - start;
  const known = liveFrequencies.get(place);
  if (known !== undefined) return known;
  let frequency = 0;
  for (let at = start; at < end; at += 1) if (slots[ordinals[at]] >= 0) frequency += 1;
  liveFrequencies.set(place, frequency);
  return frequency;
}

/** Takes a chunk that is gone out of the live ones. */
export function markDeleted(docs: LiveDocs, ordinal: number): void {
  docs.slots[ordinal] = -1;
  docs.live -= 1;
  docs.liveFrequencies.clear();
}
