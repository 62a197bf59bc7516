import { createFloatColumn, growColumn, readColumn, type FloatColumn } from '../memory/columns.js';
import { sectionOf } from '../scoring/score.js';
import type { Vectors } from '../vectors/vectors.js';

interface NewChunk {
  /** Little-endian FLOAT32; read only by tables that hold vectors. */
  readonly vector: Uint8Array;
  /** Packed term counts. */
  readonly terms: Uint8Array;
  /** See `tieKey`. */
  readonly tie: number;
}

/** Chunks by slot: their terms, their vectors where the table holds some, and the document and number of each. */
export interface ChunkTable {
  /** Chunks that belong to documents. Chunks that are being loaded do not count. */
  readonly count: number;
  /** Null before the first vector, and where vectors are not held. */
  readonly vectors: Vectors | null;
  /** The document and the number of the chunk that each slot holds. */
  readonly links: Pick<ChunkLinks, 'size' | 'documentOf' | 'numberOf' | 'after' | 'sectionOf'>;
  /** Stores a chunk. @returns its slot, or null when its vector has another length than the others */
  add(chunk: NewChunk): number | null;
  readonly terms: Pick<TermStore, 'read'>;
  tieOf(slot: number): number;
  /** Numbers that others computed for a slot and want to keep as long as it holds the same chunk; 0 before that. */
  readonly divisors: FloatColumn;
  /** Frees the slots of chunks that were never linked. */
  free(slots: readonly number[]): void;
  /** Makes these slots the chunks of a document, in this order. @returns the first slot, or -1 without any */
  link(slots: readonly number[], documentSlot: number): number;
  /** The slots of a chunk of a document and of all chunks after it. */
  slotsFrom(first: number): number[];
  /** Removes chunks of a document. */
  unlink(slots: readonly number[]): void;
}

/** Makes room for vectors of a length. */
export type MakeVectors = (dimensions: number) => Vectors;

interface Columns {
  readonly terms: TermStore;
  readonly links: ChunkLinks;
  readonly freed: number[];
  /** Slots that have ever held a chunk. */
  used: number;
  readonly ties: FloatColumn;
  readonly divisors: FloatColumn;
  vectors: Vectors | null;
  count: number;
}

/** @param makeVectors null when vectors are not held */
export function createChunkTable(makeVectors: MakeVectors | null): ChunkTable {
  const columns = createColumns();
  return {
    get count() {
      return columns.count;
    },
    get vectors() {
      return columns.vectors;
    },
    links: columns.links,
    terms: columns.terms,
    tieOf: (slot) => columns.ties.get(slot),
    divisors: columns.divisors,
    add: (chunk) => {
      if (makeVectors && !hasRoomFor(columns, chunk.vector.byteLength / 4, makeVectors)) return null;
      return add(columns, chunk);
    },
    free: (slots) => free(columns, slots),
    link: (slots, documentSlot) => {
      columns.links.link(slots, documentSlot);
      columns.count += slots.length;
      return slots[0] ?? -1;
    },
    slotsFrom: (first) => slotsFrom(columns.links, first),
    unlink: (slots) => {
      free(columns, slots);
      for (const slot of slots) columns.links.unlink(slot);
      columns.count -= slots.length;
    },
  };
}

function createColumns(): Columns {
  return {
    terms: createTermStore(),
    links: createChunkLinks(),
    freed: [],
    used: 0,
    ties: createFloatColumn(),
    divisors: createFloatColumn(),
    vectors: null,
    count: 0,
  };
}

function slotsFrom(links: ChunkLinks, first: number): number[] {
  const slots: number[] = [];
  for (let slot = first; slot >= 0; slot = links.after(slot)) slots.push(slot);
  return slots;
}

/**
 * Tells whether vectors of this length can be stored. The first vector decides the length of all; once no chunk is left,
 * the next may be of another model.
 */
function hasRoomFor(columns: Columns, dimensions: number, makeVectors: MakeVectors): boolean {
  if (columns.vectors?.dimensions === dimensions) return true;
  const isEmpty = columns.used === columns.freed.length;
  if (dimensions === 0 || !Number.isInteger(dimensions) || !isEmpty) return false;
  columns.vectors = makeVectors(dimensions);
  return true;
}

function add(columns: Columns, { vector, terms, tie }: NewChunk): number {
  const slot = columns.freed.pop() ?? columns.used++;
  columns.ties.set(slot, tie);
  columns.divisors.set(slot, 0);
  columns.vectors?.put(slot, vector, tie);
  columns.terms.set(slot, terms);
  return slot;
}

function free({ terms, freed }: Columns, slots: readonly number[]): void {
  for (const slot of slots) {
    terms.delete(slot);
    freed.push(slot);
  }
}

/** The chunk of a document that each slot holds, and the slot of the document's next chunk. */
interface ChunkLinks {
  /** One more than the highest slot that ever held a chunk. */
  readonly size: number;
  /** The slot of the document whose chunk this is; -1 when the slot holds none. */
  documentOf(slot: number): number;
  numberOf(slot: number): number;
  /** The slot of the document's next chunk; -1 after the last. */
  after(slot: number): number;
  /** The slot of the first chunk of the section that holds this one. */
  sectionOf(slot: number): number;
  /** Makes slots the chunks of a document, in this order. */
  link(slots: readonly number[], documentSlot: number): void;
  unlink(slot: number): void;
}

/**
 * The links are kept in columns by slot, since objects would take several times the memory. The columns count slots from 1:
 * a 0, and a slot beyond the end of a column, mean that there is none.
 */
function createChunkLinks(): ChunkLinks {
  let documents = new Int32Array(0);
  let numbers = new Int32Array(0);
  let nexts = new Int32Array(0);
  let sections = new Int32Array(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    documentOf: (slot) => readColumn(documents, slot) - 1,
    numberOf: (slot) => readColumn(numbers, slot),
    after: (slot) => readColumn(nexts, slot) - 1,
    sectionOf: (slot) => readColumn(sections, slot) - 1,
    link: (slots, documentSlot) => {
      for (const [number, slot] of slots.entries()) {
        documents = growColumn(documents, slot + 1);
        numbers = growColumn(numbers, slot + 1);
        nexts = growColumn(nexts, slot + 1);
        sections = growColumn(sections, slot + 1);
        documents[slot] = documentSlot + 1;
        numbers[slot] = number;
        nexts[slot] = (slots[number + 1] ?? -1) + 1;
        sections[slot] = (slots[sectionOf(number)] ?? -1) + 1;
        size = Math.max(size, slot + 1);
      }
    },
    unlink: (slot) => {
      documents[slot] = 0;
    },
  };
}

const SLAB_BYTES = 2 ** 20;

/**
 * Packed terms by slot, one after another in large slabs, since a buffer for each would weigh more than the terms. Bytes in
 * a slab are never overwritten, so that a view of them stays the same for as long as it is held.
 */
interface TermStore {
  /** The memory of all slabs. */
  readonly bytes: number;
  set(slot: number, terms: Uint8Array): void;
  /** Returns a view of a slot's terms; null where the slot holds none. */
  read(slot: number): Uint8Array | null;
  delete(slot: number): void;
}

interface Slab {
  readonly number: number;
  readonly bytes: Uint8Array;
  /** The slots whose terms were put here. */
  readonly slots: number[];
  used: number;
  /** Bytes of terms that slots still refer to. */
  live: number;
}

interface TermSlabs {
  readonly slabs: Map<number, Slab>;
  newest: Slab | null;
  nextNumber: number;
  /** Three numbers for each slot: slab, first byte, and length in bytes. */
  places: Int32Array<ArrayBuffer>;
  /** Bytes of all slabs. */
  held: number;
}

// Slots beyond the end of the column hold no terms: for their places, `slabs` is asked for -1.
export function createTermStore(): TermStore {
  const state: TermSlabs = {
    slabs: new Map(),
    newest: null,
    nextNumber: 0,
    places: new Int32Array(0),
    held: 0,
  };
  return {
    get bytes() {
      return state.held;
    },
    set: (slot, terms) => put(state, slot, terms),
    read: (slot) => {
      const slab = state.slabs.get(state.places[slot * 3] ?? -1);
      return slab ? termsIn(slab, state.places, slot) : null;
    },
    delete: (slot) => remove(state, slot),
  };
}

function put(state: TermSlabs, slot: number, terms: Uint8Array): void {
  const { byteLength } = terms;
  const slab = slabFor(state, byteLength);
  const places = (state.places = growColumn(state.places, slot * 3 + 3));
  places[slot * 3] = slab.number;
  places[slot * 3 + 1] = slab.used;
  places[slot * 3 + 2] = byteLength;
  slab.slots.push(slot);
  slab.bytes.set(terms, slab.used);
  slab.used += byteLength;
  slab.live += byteLength;
}

/** Returns the newest slab, or a new one when that has no room. */
function slabFor(state: TermSlabs, byteLength: number): Slab {
  const { newest, nextNumber } = state;
  if (newest && newest.used + byteLength <= newest.bytes.byteLength) return newest;
  const size = Math.max(SLAB_BYTES, byteLength);
  const slab = { number: nextNumber, bytes: new Uint8Array(size), slots: [], used: 0, live: 0 };
  state.slabs.set(nextNumber, slab);
  state.newest = slab;
  state.nextNumber += 1;
  state.held += size;
  if (!newest || !isMostlyDead(newest)) return slab;
  leave(state, newest);
  return slabFor(state, byteLength);
}

function remove(state: TermSlabs, slot: number): void {
  const { slabs, places } = state;
  const slab = slabs.get(places[slot * 3] ?? -1);
  const length = places[slot * 3 + 2];
  if (!slab || length === 0) return;
  slab.live -= length;
  places[slot * 3 + 2] = 0;
  if (slab !== state.newest && isMostlyDead(slab)) leave(state, slab);
}

const isMostlyDead = ({ live, used }: Slab): boolean => 2 * live < used;

/** Copies the live terms of a slab into the newest one. That is a megabyte at most, whatever all slabs hold. */
function leave(state: TermSlabs, slab: Slab): void {
  state.slabs.delete(slab.number);
  state.held -= slab.bytes.byteLength;
  for (const slot of slab.slots) {
    if (state.places[slot * 3] !== slab.number) continue;
    const terms = termsIn(slab, state.places, slot);
    if (terms) put(state, slot, terms);
  }
}

function termsIn({ bytes }: Slab, places: Int32Array, slot: number): Uint8Array | null {
  const start = places[slot * 3 + 1];
  const length = places[slot * 3 + 2];
  return length === 0 ? null : bytes.subarray(start, start + length);
}
