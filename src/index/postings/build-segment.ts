import { randomInt } from 'node:crypto';
import { packedCount, packedLength, packedSize, packedTerm } from '../scoring/packed-terms.js';
import type { MakePostingsKernel } from './kernel.js';
import { makeColumns } from './segment-columns.js';
import { makeBounds, MIN_WINDOWED, WINDOW, widenBounds, type Segment } from './segment.js';

/** Work that is done step by step, so that searches are answered in between. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

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

/** @returns the place where the numbers of the next range begin */
function numberTerms(dictionary: Dictionary, { packed, range, numbers, first }: Chunks): number {
  let next = first;
  for (let ordinal = range.from; ordinal < range.to; ordinal += 1) {
    const terms = packed[ordinal];
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
    const terms = packed[ordinal];
    const size = packedSize(terms);
    if (size > 0) lengths[ordinal] = packedLength(terms);
    for (let index = 0; index < size; index += 1) {
      const number = numbers[from + index];
      const next = nexts[number];
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
  let start = starts[from];
  for (let place = from; place < to; place += 1) {
    const number = numberOf(dictionary, terms[place]);
    nexts[number] = start;
    start += dictionary.frequencies[number];
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
  const postings = starts[size];
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
    if (starts[place + 1] - starts[place] < MIN_WINDOWED) continue;
    tables[place] = entries;
    entries += windows;
  }
  return { tables, entries };
}

/** One step goes over this many postings, which takes some tenths of a millisecond. */
const POSTINGS_AT_ONCE = 16_384;

/** Fills the bounds of all terms, and of the windows of common terms, reading the postings in their order. */
function* boundTerms(segment: Segment): Steps<void> {
  const { terms, starts } = segment;
  let place = 0;
  while (place < terms.length) {
    const enough = starts[place] + POSTINGS_AT_ONCE;
    place = boundUntil(segment, place, enough);
    yield;
  }
}

/** @returns the first place that is left: the place of the first term whose postings begin at `enough` or after it */
function boundUntil(segment: Segment, from: number, enough: number): number {
  const { terms, starts, tables } = segment;
  let place = from;
  for (; place < terms.length && starts[place] < enough; place += 1) {
    if (tables[place] < 0) boundTerm(segment, place);
    else boundWindows(segment, place);
  }
  return place;
}

function boundTerm({ starts, ordinals, counts, lengths, bounds }: Segment, place: number): void {
  const end = starts[place + 1];
  for (let at = starts[place]; at < end; at += 1)
    widenBounds(bounds, place, counts[at], lengths[ordinals[at]]);
}

function boundWindows(segment: Segment, place: number): void {
  const { starts, ordinals, counts, lengths, tables, windows, bounds, windowBounds, windowEnds } = segment;
  const table = tables[place];
  const end = starts[place + 1];
  let at = starts[place];
  for (let window = 0; window < windows; window += 1) {
    const below = (window + 1) * WINDOW;
    const entry = table + window;
    for (; at < end && ordinals[at] < below; at += 1)
      widenBounds(windowBounds, entry, counts[at], lengths[ordinals[at]]);
    windowEnds[entry] = at;
    widenBounds(bounds, place, windowBounds.counts[entry], windowBounds.lengths[entry]);
  }
}

/** Bits of a digit, and where the digits of a term begin. */
const DIGIT_BITS = 11;
const DIGITS = [0, DIGIT_BITS, 2 * DIGIT_BITS];
const VALUES = 2 ** DIGIT_BITS;

/**
 * Sorts terms, which are all different, by one digit after the other, the lowest first (radix sort). A step takes a
 * millisecond for a hundred thousand terms; the native sort takes ten for as many, and is one step.
 */
export function* sortTerms(terms: Uint32Array): Steps<Uint32Array> {
  let sorted = terms;
  for (const shift of DIGITS) {
    const starts = startsOf(sorted, shift);
    yield;
    const next = new Uint32Array(sorted.length);
    distribute(sorted, next, { starts, shift });
    sorted = next;
    yield;
  }
  return sorted;
}

/** Returns the places where the terms of each value of the digit begin. */
function startsOf(terms: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(VALUES + 1);
  for (const term of terms) {
    const digit = (term >>> shift) & (VALUES - 1);
    starts[digit + 1] += 1;
  }
  for (let digit = 1; digit < VALUES; digit += 1) starts[digit] += starts[digit - 1];
  return starts;
}

function distribute(
  terms: Uint32Array,
  sorted: Uint32Array,
  { starts, shift }: { readonly starts: Uint32Array; readonly shift: number },
): void {
  for (const term of terms) {
    const digit = (term >>> shift) & (VALUES - 1);
    const start = starts[digit];
    sorted[start] = term;
    starts[digit] = start + 1;
  }
}

/** Term numbers in the order in which terms are first seen, with how many chunks hold each. */
interface Dictionary {
  /** An open-addressing table of term numbers, counting from 1. */
  table: Int32Array;
  terms: Uint32Array;
  frequencies: Uint32Array;
  size: number;
}

/** @param expected the number of terms that there may be; it grows beyond that */
function createDictionary(expected: number): Dictionary {
  const terms = Math.max(256, expected);
  return {
    table: new Int32Array(tableSize(terms)),
    terms: new Uint32Array(terms),
    frequencies: new Uint32Array(terms),
    size: 0,
  };
}

/** Returns a power of two of which terms take at most half. */
function tableSize(terms: number): number {
  return 2 ** Math.ceil(Math.log2(2 * terms));
}

/** A number that nobody outside can know: who chose words whose terms end alike would make the search in the table long. */
const SECRET = randomInt(2 ** 31) * 2 + 1;

/** Returns the place in the table that holds the number of a term, or the empty place where it would be. */
function tablePlace({ table, terms }: Dictionary, term: number): number {
  const mask = table.length - 1;
  // The upper bits of a product depend on all bits of the term (multiplicative hashing, Knuth).
  let place = Math.imul(term, SECRET) >>> Math.clz32(mask);
  for (let number = table[place]; number !== 0; number = table[place]) {
    if (terms[number - 1] === term) return place;
    place = (place + 1) & mask;
  }
  return place;
}

/** Counts a chunk that holds the term. @returns the number of the term */
function countTerm(dictionary: Dictionary, term: number): number {
  const place = tablePlace(dictionary, term);
  const number = dictionary.table[place] - 1;
  if (number >= 0) {
    dictionary.frequencies[number] += 1;
    return number;
  }
  if (dictionary.size === dictionary.terms.length) {
    grow(dictionary);
    return countTerm(dictionary, term);
  }
  dictionary.terms[dictionary.size] = term;
  dictionary.frequencies[dictionary.size] = 1;
  dictionary.size += 1;
  dictionary.table[place] = dictionary.size;
  return dictionary.size - 1;
}

/** Returns the number of a term that was counted. */
function numberOf(dictionary: Dictionary, term: number): number {
  return dictionary.table[tablePlace(dictionary, term)] - 1;
}

function grow(dictionary: Dictionary): void {
  const { terms, frequencies, size } = dictionary;
  dictionary.terms = new Uint32Array(2 * size);
  dictionary.terms.set(terms);
  dictionary.frequencies = new Uint32Array(2 * size);
  dictionary.frequencies.set(frequencies);
  dictionary.table = new Int32Array(tableSize(2 * size));
  for (let number = 0; number < size; number += 1)
    dictionary.table[tablePlace(dictionary, terms[number])] = number + 1;
}
