import { growColumn } from './grow-column.js';

const SLAB_BYTES = 2 ** 20;

/**
 * Packed terms by slot, one after another in large slabs, since a buffer for each would weigh more than the terms. What is in
 * a slab is never overwritten, so that a view of it stays what it was for as long as it is held.
 */
export interface TermStore {
  /** What all slabs take of memory. */
  readonly bytes: number;
  set(slot: number, terms: Uint8Array): void;
  /** Returns a view of a slot's terms; null where the slot holds none. */
  read(slot: number): Uint8Array | null;
  delete(slot: number): void;
}

interface Slab {
  readonly number: number;
  readonly bytes: Uint8Array;
  used: number;
}

interface State {
  slabs: Map<number, Slab>;
  newest: Slab | null;
  nextNumber: number;
  /** Three numbers for each slot: slab, first byte, and length in bytes. */
  places: Int32Array<ArrayBuffer>;
  /** Bytes of all slabs, and the bytes of terms that slots refer to. */
  held: number;
  live: number;
}

// In this file `?? 0` reads places beyond the end of the column, whose slots hold no terms.
export function createTermStore(): TermStore {
  const state: State = {
    slabs: new Map(),
    newest: null,
    nextNumber: 0,
    places: new Int32Array(0),
    held: 0,
    live: 0,
  };
  return {
    get bytes() {
      return state.held;
    },
    set: (slot, terms) => put(state, slot, terms),
    read: (slot) => readPlace(state.places, slot, state.slabs),
    delete: (slot) => {
      const { places } = state;
      state.live -= places[slot * 3 + 2] ?? 0;
      if (slot * 3 < places.length) places[slot * 3 + 2] = 0;
      compact(state);
    },
  };
}

function put(state: State, slot: number, terms: Uint8Array): void {
  const { byteLength } = terms;
  const slab = slabFor(state, byteLength);
  const places = (state.places = growColumn(state.places, slot * 3 + 3));
  places[slot * 3] = slab.number;
  places[slot * 3 + 1] = slab.used;
  places[slot * 3 + 2] = byteLength;
  slab.bytes.set(terms, slab.used);
  slab.used += byteLength;
  state.live += byteLength;
}

/** The newest slab, or a new one when that has no room. */
function slabFor(state: State, byteLength: number): Slab {
  const { newest, nextNumber } = state;
  if (newest && newest.used + byteLength <= newest.bytes.byteLength) return newest;
  const size = Math.max(SLAB_BYTES, byteLength);
  const slab = { number: nextNumber, bytes: new Uint8Array(size), used: 0 };
  state.slabs.set(nextNumber, slab);
  state.newest = slab;
  state.nextNumber += 1;
  state.held += size;
  return slab;
}

/** Copies the live terms into new slabs once dead ones outweigh them. */
function compact(state: State): void {
  const { slabs: old, places } = state;
  if (state.held < 2 * state.live + 4 * SLAB_BYTES) return;
  Object.assign(state, { slabs: new Map<number, Slab>(), newest: null, held: 0, live: 0 });
  for (let slot = 0; slot * 3 < places.length; slot += 1) {
    const terms = readPlace(places, slot, old);
    if (terms) put(state, slot, terms);
  }
}

function readPlace(places: Int32Array, slot: number, slabs: ReadonlyMap<number, Slab>): Uint8Array | null {
  const start = places[slot * 3 + 1] ?? 0;
  const length = places[slot * 3 + 2] ?? 0;
  if (length === 0) return null;
  return slabs.get(places[slot * 3] ?? -1)?.bytes.subarray(start, start + length) ?? null;
}
