import { growColumn } from '../memory/columns.js';

const SLAB_BYTES = 2 ** 20;

/**
 * Packed terms by slot, one after another in large slabs, since a buffer for each would weigh more than the terms. Bytes in
 * a slab are never overwritten, so that a view of them stays the same for as long as it is held.
 */
export interface TermStore {
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

interface State {
  readonly slabs: Map<number, Slab>;
  newest: Slab | null;
  nextNumber: number;
  /** Three numbers for each slot: slab, first byte, and length in bytes. */
  places: Int32Array<ArrayBuffer>;
  /** Bytes of all slabs. */
  held: number;
}

// In this file `?? 0` reads places beyond the end of the column, whose slots hold no terms.
export function createTermStore(): TermStore {
  const state: State = {
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

function put(state: State, slot: number, terms: Uint8Array): void {
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
function slabFor(state: State, byteLength: number): Slab {
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

function remove(state: State, slot: number): void {
  const { slabs, places } = state;
  const slab = slabs.get(places[slot * 3] ?? -1);
  const length = places[slot * 3 + 2] ?? 0;
  if (!slab || length === 0) return;
  slab.live -= length;
  places[slot * 3 + 2] = 0;
  if (slab !== state.newest && isMostlyDead(slab)) leave(state, slab);
}

const isMostlyDead = ({ live, used }: Slab): boolean => 2 * live < used;

/** Copies the live terms of a slab into the newest one. That is a megabyte at most, whatever all slabs hold. */
function leave(state: State, slab: Slab): void {
  state.slabs.delete(slab.number);
  state.held -= slab.bytes.byteLength;
  for (const slot of slab.slots) {
    if (state.places[slot * 3] !== slab.number) continue;
    const terms = termsIn(slab, state.places, slot);
    if (terms) put(state, slot, terms);
  }
}

function termsIn({ bytes }: Slab, places: Int32Array, slot: number): Uint8Array | null {
  const start = places[slot * 3 + 1] ?? 0;
  const length = places[slot * 3 + 2] ?? 0;
  return length === 0 ? null : bytes.subarray(start, start + length);
}
