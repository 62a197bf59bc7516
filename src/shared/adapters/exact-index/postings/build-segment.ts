import { randomInt } from 'node:crypto';
import { packedLength, readTerms } from '../../../text/packed-terms.js';
import { makeBounds, MIN_WINDOWED, widenBounds, WINDOW, type Segment } from './segment.js';

/** Chunks that are looked at between two looks at the clock. */
const CHUNKS_AT_ONCE = 64;

/** Makes a segment step by step, so that searches are answered in between. */
export interface SegmentBuilder {
  /** Goes on while time is left. @returns the segment once it is whole */
  advance(isTimeLeft: () => boolean): Segment | null;
}

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
export function createSegmentBuilder(
  slots: readonly number[],
  packed: readonly Uint8Array[],
): SegmentBuilder {
  const dictionary = createDictionary(packed);
  let counted = 0;
  let layout: Layout | null = null;
  let written = 0;
  return {
    advance: (isTimeLeft) => {
      for (; counted < packed.length; counted += 1) {
        if (counted % CHUNKS_AT_ONCE === CHUNKS_AT_ONCE - 1 && !isTimeLeft()) return null;
        readTerms(packedOf(packed, counted), (term) => count(dictionary, term));
      }
      layout ??= layOut(dictionary, slots);
      for (; written < packed.length; written += 1) {
        if (written % CHUNKS_AT_ONCE === CHUNKS_AT_ONCE - 1 && !isTimeLeft()) return null;
        writePostings(layout, dictionary, { ordinal: written, packed: packedOf(packed, written) });
      }
      addWindows(layout.segment);
      return layout.segment;
    },
  };
}

const NOTHING = new Uint8Array(0);
const packedOf = (packed: readonly Uint8Array[], i: number): Uint8Array => packed[i] ?? NOTHING;

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

function layOut(dictionary: Dictionary, slots: readonly number[]): Layout {
  const { size } = dictionary;
  const terms = dictionary.terms.slice(0, size).sort();
  const starts = new Uint32Array(size + 1);
  const places = new Uint32Array(size);
  const nexts = new Uint32Array(size);
  let start = 0;
  for (let place = 0; place < size; place += 1) {
    const number = (dictionary.table[tablePlace(dictionary, terms[place] ?? 0)] ?? 0) - 1;
    places[number] = place;
    nexts[number] = start;
    starts[place] = start;
    start += dictionary.frequencies[number] ?? 0;
  }
  starts[size] = start;
  const windows = Math.ceil(slots.length / WINDOW);
  const { tables, entries } = placeTables(starts, windows);
  return {
    places,
    nexts,
    segment: {
      slots: Int32Array.from(slots),
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
function addWindows({
  starts,
  ordinals,
  counts,
  lengths,
  tables,
  windows,
  windowBounds,
  windowEnds,
}: Segment): void {
  for (let place = 0; place < tables.length; place += 1) {
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
