import { packedCount, packedLength, packedSize, packedTerm } from '../scoring/packed-terms.js';
import { boundTerms } from './bound-terms.js';
import type { MakePostingsKernel } from './kernel.js';
import { makeColumns } from './segment-columns.js';
import { makeBounds, MIN_WINDOWED, WINDOW, type Segment } from './segment.js';
import { sortTerms } from './sort-terms.js';
import type { Steps } from './steps.js';
import { countTerm, createDictionary, numberOf, type Dictionary } from './term-dictionary.js';

/** One step goes over this many chunks or terms, which takes some tenths of a millisecond. */
const CHUNKS_AT_ONCE = 64;
const TERMS_AT_ONCE = 4_096;
/** Texts share most of their terms, so that few chunks decide how large the dictionary is to be at first. */
const TERMS_A_CHUNK = 16;

/**
 * @param slots the slots of the chunks, in the order of their ordinals, at most `MAX_SEGMENT_CHUNKS`
 * @param packed the packed terms of each; it is read until the segment is whole
 */
export function* buildSegment(
  slots: Int32Array,
  packed: readonly Uint8Array[],
  makeKernel: MakePostingsKernel,
): Steps<Segment> {
  const dictionary = createDictionary(packed.length * TERMS_A_CHUNK);
  // The number of each term of each chunk, so that each is looked up once.
  const numbers = new Uint32Array(packed.reduce((sum, terms) => sum + packedSize(terms), 0));
  let first = 0;
  for (const range of ranges(packed.length, CHUNKS_AT_ONCE)) {
    first = numberTerms(dictionary, { packed, range, numbers, first });
    yield;
  }
  const layout = yield* layOut(dictionary, slots, makeKernel);
  first = 0;
  for (const range of ranges(packed.length, CHUNKS_AT_ONCE)) {
    first = writePostings(layout, { packed, range, numbers, first });
    yield;
  }
  yield* boundTerms(layout.segment);
  return layout.segment;
}

/** The range of one step. Loops are functions of their own, since V8 runs loops of generators slowly. */
interface Range {
  readonly from: number;
  readonly to: number;
}

function* ranges(size: number, atOnce: number): Generator<Range> {
  for (let from = 0; from < size; from += atOnce) yield { from, to: Math.min(from + atOnce, size) };
}

interface Chunks {
  readonly packed: readonly Uint8Array[];
  readonly range: Range;
  /** The numbers of the terms of all chunks, one chunk after the other. The numbers of this range begin at `first`. */
  readonly numbers: Uint32Array;
  readonly first: number;
}

const NOTHING = new Uint8Array(0);

/** @returns the place where the numbers of the next range begin */
function numberTerms(dictionary: Dictionary, { packed, range, numbers, first }: Chunks): number {
  let next = first;
  for (let ordinal = range.from; ordinal < range.to; ordinal += 1) {
    const terms = packed[ordinal] ?? NOTHING;
    const size = packedSize(terms);
    for (let index = 0; index < size; index += 1) {
      numbers[next] = countTerm(dictionary, packedTerm(terms, index));
      next += 1;
    }
  }
  return next;
}

/** @returns the place where the numbers of the next range begin */
function writePostings(
  { segment: { lengths, ordinals, counts }, nexts }: Layout,
  { packed, range, numbers, first }: Chunks,
): number {
  let from = first;
  for (let ordinal = range.from; ordinal < range.to; ordinal += 1) {
    const terms = packed[ordinal] ?? NOTHING;
    const size = packedSize(terms);
    if (size > 0) lengths[ordinal] = packedLength(terms);
    for (let index = 0; index < size; index += 1) {
      const number = numbers[from + index] ?? 0;
      const next = nexts[number] ?? 0;
      ordinals[next] = ordinal;
      counts[next] = packedCount(terms, size, index);
      nexts[number] = next + 1;
    }
    from += size;
  }
  return from;
}

interface Layout {
  readonly segment: Segment;
  /** By term number: where its next posting goes. */
  readonly nexts: Uint32Array;
}

interface TermPlaces extends Pick<Layout, 'nexts'> {
  readonly terms: Uint32Array;
  /** Each term's start is there when its turn comes; it writes the start of the next. */
  readonly starts: Uint32Array;
}

function placeTerms(dictionary: Dictionary, { terms, starts, nexts }: TermPlaces, { from, to }: Range): void {
  let start = starts[from] ?? 0;
  for (let place = from; place < to; place += 1) {
    const number = numberOf(dictionary, terms[place] ?? 0);
    nexts[number] = start;
    start += dictionary.frequencies[number] ?? 0;
    starts[place + 1] = start;
  }
}

function* layOut(dictionary: Dictionary, slots: Int32Array, makeKernel: MakePostingsKernel): Steps<Layout> {
  const { size } = dictionary;
  const terms = yield* sortTerms(dictionary.terms.subarray(0, size));
  const starts = new Uint32Array(size + 1);
  const nexts = new Uint32Array(size);
  for (const range of ranges(size, TERMS_AT_ONCE)) {
    placeTerms(dictionary, { terms, starts, nexts }, range);
    yield;
  }
  const postings = starts[size] ?? 0;
  const windows = Math.ceil(slots.length / WINDOW);
  const { tables, entries } = placeTables(starts, windows);
  return {
    nexts,
    segment: {
      slots,
      terms,
      starts,
      bounds: makeBounds(size),
      windows,
      tables,
      ...makeColumns({ chunks: slots.length, windows, postings, entries }, makeKernel),
      live: slots.length,
      liveFrequencies: new Map(),
    },
  };
}

/** Gives every common term a table of windows. A segment of one window needs none. */
function placeTables(starts: Uint32Array, windows: number): { tables: Int32Array; entries: number } {
  const tables = new Int32Array(starts.length - 1).fill(-1);
  let entries = 0;
  for (let place = 0; windows > 1 && place < tables.length; place += 1) {
    if ((starts[place + 1] ?? 0) - (starts[place] ?? 0) < MIN_WINDOWED) continue;
    tables[place] = entries;
    entries += windows;
  }
  return { tables, entries };
}
