import { randomInt } from 'node:crypto';
import { packedLength, readTerms } from '../../../text/packed-terms.js';
import type { Steps } from './steps.js';
import { sortTerms } from './sort-terms.js';
import { makeBounds, MIN_WINDOWED, widenBounds, WINDOW, type Segment } from './segment.js';

/** So many chunks, terms or postings are one step, which takes some tenths of a millisecond. */
const CHUNKS_AT_ONCE = 64;
const TERMS_AT_ONCE = 4_096;
const POSTINGS_AT_ONCE = 16_384;

/** Term numbers in the order in which terms are first seen, with how many chunks hold each. */
interface Dictionary {
  /** An open-addressing table of term numbers, counting from 1. */
  table: Int32Array;
  terms: Uint32Array;
  frequencies: Uint32Array;
  size: number;
}

/**
 * @param slots the slots of the chunks, in the order of their ordinals, at most `MAX_SEGMENT_CHUNKS`
 * @param packed the packed terms of each; it is read until the segment is whole
 */
export function* buildSegment(slots: Int32Array, packed: readonly Uint8Array[]): Steps<Segment> {
  const dictionary = createDictionary(packed);
  for (const range of ranges(packed.length, CHUNKS_AT_ONCE)) {
    countTerms(dictionary, packed, range);
    yield;
  }
  const layout = yield* layOut(dictionary, slots);
  for (const range of ranges(packed.length, CHUNKS_AT_ONCE)) {
    writeChunks(layout, dictionary, { packed, range });
    yield;
  }
  yield* addWindows(layout.segment);
  return layout.segment;
}

/** What one step goes over. Loops are functions of their own, since V8 runs those of generators slowly. */
interface Range {
  readonly from: number;
  readonly to: number;
}

function* ranges(size: number, atOnce: number): Generator<Range> {
  for (let from = 0; from < size; from += atOnce) yield { from, to: Math.min(from + atOnce, size) };
}

const NOTHING = new Uint8Array(0);

function countTerms(dictionary: Dictionary, packed: readonly Uint8Array[], { from, to }: Range): void {
  const tell = (term: number) => count(dictionary, term);
  for (let ordinal = from; ordinal < to; ordinal += 1) readTerms(packed[ordinal] ?? NOTHING, tell);
}

function writeChunks(
  layout: Layout,
  dictionary: Dictionary,
  { packed, range: { from, to } }: { readonly packed: readonly Uint8Array[]; readonly range: Range },
): void {
  for (let ordinal = from; ordinal < to; ordinal += 1)
    writePostings(layout, dictionary, { ordinal, packed: packed[ordinal] ?? NOTHING });
}

function createDictionary(packed: readonly Uint8Array[]): Dictionary {
  // Texts share most of their terms, so that few chunks decide how large the table is to be at first.
  const terms = Math.max(256, packed.length * 16);
  return {
    table: new Int32Array(tableSize(terms)),
    terms: new Uint32Array(terms),
    frequencies: new Uint32Array(terms),
    size: 0,
  };
}

/** A power of two of which terms take at most half. */
function tableSize(terms: number): number {
  return 2 ** Math.ceil(Math.log2(2 * terms));
}

/** A number that nobody outside can know: who chose words whose terms end alike would make the search in the table long. */
const SECRET = randomInt(2 ** 31) * 2 + 1;

/** Where the number of a term is in the table, or the empty place where it would be. */
function tablePlace({ table, terms }: Dictionary, term: number): number {
  const mask = table.length - 1;
  // The upper bits of a product depend on all bits of the term (multiplicative hashing, Knuth).
  let place = Math.imul(term, SECRET) >>> Math.clz32(mask);
  for (let number = table[place] ?? 0; number !== 0; number = table[place] ?? 0) {
    if (terms[number - 1] === term) return place;
    place = (place + 1) & mask;
  }
  return place;
}

function count(dictionary: Dictionary, term: number): void {
  const place = tablePlace(dictionary, term);
  const number = (dictionary.table[place] ?? 0) - 1;
  if (number >= 0) {
    dictionary.frequencies[number] = (dictionary.frequencies[number] ?? 0) + 1;
    return;
  }
  if (dictionary.size === dictionary.terms.length) {
    grow(dictionary);
    count(dictionary, term);
    return;
  }
  dictionary.terms[dictionary.size] = term;
  dictionary.frequencies[dictionary.size] = 1;
  dictionary.size += 1;
  dictionary.table[place] = dictionary.size;
}

function grow(dictionary: Dictionary): void {
  const { terms, frequencies, size } = dictionary;
  dictionary.terms = new Uint32Array(2 * size);
  dictionary.terms.set(terms);
  dictionary.frequencies = new Uint32Array(2 * size);
  dictionary.frequencies.set(frequencies);
  dictionary.table = new Int32Array(tableSize(2 * size));
  for (let number = 0; number < size; number += 1)
    dictionary.table[tablePlace(dictionary, terms[number] ?? 0)] = number + 1;
}

interface Layout {
  readonly segment: Segment;
  /** By term number: its place among the ascending terms, and where its next posting goes. */
  readonly places: Uint32Array;
  readonly nexts: Uint32Array;
}

interface TermPlaces extends Pick<Layout, 'places' | 'nexts'> {
  readonly terms: Uint32Array;
  /** Each term's start is there when its turn comes; it writes that of the next. */
  readonly starts: Uint32Array;
}

function placeTerms(
  dictionary: Dictionary,
  { terms, starts, places, nexts }: TermPlaces,
  { from, to }: Range,
): void {
  let start = starts[from] ?? 0;
  for (let place = from; place < to; place += 1) {
    const number = (dictionary.table[tablePlace(dictionary, terms[place] ?? 0)] ?? 0) - 1;
    places[number] = place;
    nexts[number] = start;
    start += dictionary.frequencies[number] ?? 0;
    starts[place + 1] = start;
  }
}

function* layOut(dictionary: Dictionary, slots: Int32Array): Steps<Layout> {
  const { size } = dictionary;
  const terms = yield* sortTerms(dictionary.terms.subarray(0, size));
  const starts = new Uint32Array(size + 1);
  const places = new Uint32Array(size);
  const nexts = new Uint32Array(size);
  for (const range of ranges(size, TERMS_AT_ONCE)) {
    placeTerms(dictionary, { terms, starts, places, nexts }, range);
    yield;
  }
  const start = starts[size] ?? 0;
  const windows = Math.ceil(slots.length / WINDOW);
  const { tables, entries } = placeTables(starts, windows);
  return {
    places,
    nexts,
    segment: {
      slots,
      lengths: new Uint32Array(slots.length),
      terms,
      starts,
      ordinals: new Uint16Array(start),
      counts: new Uint8Array(start),
      bounds: makeBounds(size),
      windows,
      tables,
      windowBounds: makeBounds(entries),
      windowEnds: new Uint32Array(entries),
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

function writePostings(
  { segment: { lengths, ordinals, counts, bounds }, places, nexts }: Layout,
  dictionary: Dictionary,
  { ordinal, packed }: { readonly ordinal: number; readonly packed: Uint8Array },
): void {
  if (packed.length === 0) return;
  const length = packedLength(packed);
  lengths[ordinal] = length;
  readTerms(packed, (term, count) => {
    const number = (dictionary.table[tablePlace(dictionary, term)] ?? 0) - 1;
    const next = nexts[number] ?? 0;
    ordinals[next] = ordinal;
    counts[next] = count;
    nexts[number] = next + 1;
    widenBounds(bounds, places[number] ?? 0, count, length);
  });
}

/** Fills the tables of windows. */
function* addWindows(segment: Segment): Steps<void> {
  const { starts, tables } = segment;
  let from = 0;
  let postings = 0;
  for (let place = 0; place < tables.length; place += 1) {
    if ((tables[place] ?? -1) < 0) continue;
    postings += (starts[place + 1] ?? 0) - (starts[place] ?? 0);
    if (postings < POSTINGS_AT_ONCE) continue;
    fillTables(segment, { from, to: place + 1 });
    from = place + 1;
    postings = 0;
    yield;
  }
  fillTables(segment, { from, to: tables.length });
}

function fillTables(segment: Segment, { from, to }: Range): void {
  const { starts, ordinals, counts, lengths, tables, windows, windowBounds, windowEnds } = segment;
  for (let place = from; place < to; place += 1) {
    const table = tables[place] ?? -1;
    if (table < 0) continue;
    let at = starts[place] ?? 0;
    const end = starts[place + 1] ?? 0;
    for (let window = 0; window < windows; window += 1) {
      const below = (window + 1) * WINDOW;
      for (; at < end && (ordinals[at] ?? 0) < below; at += 1)
        widenBounds(windowBounds, table + window, counts[at] ?? 0, lengths[ordinals[at] ?? 0] ?? 0);
      windowEnds[table + window] = at;
    }
  }
}
