import { grown } from './columns.js';

const SLAB_BYTES = 2 ** 20;

/** Told of the memory that places of terms refer to. */
export interface SlabEvents {
  readonly onSlab: (slab: number, bytes: SharedArrayBuffer) => void;
  /** From now on no place refers to a slab below this number. */
  readonly onSlabsDropped: (below: number) => void;
}

/**
 * Packed terms by vector slot, one after another in large slabs: a buffer for each would weigh more than they do. What
 * is in a slab is never written over: other threads may read what they were told of for as long as they like.
 */
export interface TermStore {
  set(slot: number, terms: Uint8Array): void;
  /** The terms of a slot, as a view; null where it holds none. */
  read(slot: number): Uint8Array | null;
  /** Writes where a slot's terms lie: the slab's number, the first byte and their count. */
  writePlace(slot: number, into: Int32Array, at: number): void;
  delete(slot: number): void;
}

interface Slab {
  readonly number: number;
  readonly bytes: Uint8Array;
  used: number;
}

export function createTermStore({ onSlab, onSlabsDropped }: SlabEvents): TermStore {
  let slabs = new Map<number, Slab>();
  let newest: Slab | null = null;
  let nextNumber = 0;
  /** Three numbers a slot, as `writePlace` writes them. */
  let places = new Int32Array(0);
  // `?? 0` below: slots beyond the end of the column were never set, and so hold no terms.
  let [held, live] = [0, 0];

  const makeSlab = (size: number): Slab => {
    const shared = new SharedArrayBuffer(size);
    const slab = { number: nextNumber, bytes: new Uint8Array(shared), used: 0 };
    slabs.set(slab.number, slab);
    nextNumber += 1;
    held += size;
    onSlab(slab.number, shared);
    return slab;
  };

  const put = (slot: number, terms: Uint8Array) => {
    const { byteLength } = terms;
    if (!newest || newest.used + byteLength > newest.bytes.byteLength)
      newest = makeSlab(Math.max(SLAB_BYTES, byteLength));
    places = grown(places, slot * 3 + 3);
    places[slot * 3] = newest.number;
    places[slot * 3 + 1] = newest.used;
    places[slot * 3 + 2] = byteLength;
    newest.bytes.set(terms, newest.used);
    newest.used += byteLength;
    live += byteLength;
  };

  /** Copies what is live once the rest outweighs it. */
  const compact = () => {
    if (held < 2 * live + 4 * SLAB_BYTES) return;
    const [old, below] = [slabs, nextNumber];
    [slabs, newest, held, live] = [new Map<number, Slab>(), null, 0, 0];
    for (let slot = 0; slot * 3 < places.length; slot += 1) {
      const terms = readPlace(places, slot, old);
      if (terms) put(slot, terms);
    }
    onSlabsDropped(below);
  };

  return {
    set: put,
    read: (slot) => readPlace(places, slot, slabs),
    writePlace: (slot, into, at) => {
      into[at] = places[slot * 3] ?? 0;
      into[at + 1] = places[slot * 3 + 1] ?? 0;
      into[at + 2] = places[slot * 3 + 2] ?? 0;
    },
    delete: (slot) => {
      live -= places[slot * 3 + 2] ?? 0;
      if (slot * 3 < places.length) places[slot * 3 + 2] = 0;
      compact();
    },
  };
}

function readPlace(places: Int32Array, slot: number, slabs: ReadonlyMap<number, Slab>): Uint8Array | null {
  const start = places[slot * 3 + 1] ?? 0;
  const length = places[slot * 3 + 2] ?? 0;
  if (length === 0) return null;
  return slabs.get(places[slot * 3] ?? -1)?.bytes.subarray(start, start + length) ?? null;
}
