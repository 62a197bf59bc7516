const SLAB_BYTES = 2 ** 20;

/** Packed terms by vector slot, one after another in large slabs: a buffer for each would weigh more than they do. */
export interface TermStore {
  set(slot: number, terms: Uint8Array): void;
  /** A view, valid until the next change. */
  get(slot: number): Uint8Array;
  delete(slot: number): void;
}

interface Slab {
  readonly bytes: Uint8Array;
  used: number;
}

export function createTermStore(): TermStore {
  let slabs: Slab[] = [];
  /** Three numbers a slot: slab, start and end. */
  let places: number[] = [];
  let [held, live] = [0, 0];

  const append = (terms: Uint8Array): [slab: number, start: number, end: number] => {
    let slab = slabs[slabs.length - 1];
    if (!slab || slab.used + terms.byteLength > slab.bytes.byteLength) {
      slab = { bytes: new Uint8Array(Math.max(SLAB_BYTES, terms.byteLength)), used: 0 };
      slabs.push(slab);
      held += slab.bytes.byteLength;
    }
    const start = slab.used;
    slab.bytes.set(terms, start);
    slab.used += terms.byteLength;
    live += terms.byteLength;
    return [slabs.length - 1, start, slab.used];
  };

  const put = (slot: number, terms: Uint8Array) => {
    const [slab, start, end] = append(terms);
    while (places.length <= slot * 3 + 2) places.push(0);
    places[slot * 3] = slab;
    places[slot * 3 + 1] = start;
    places[slot * 3 + 2] = end;
  };

  const view = (from: readonly Slab[], at: readonly number[], slot: number): Uint8Array => {
    const bytes = from[at[slot * 3] ?? 0]?.bytes ?? new Uint8Array(0);
    return bytes.subarray(at[slot * 3 + 1] ?? 0, at[slot * 3 + 2] ?? 0);
  };

  /** Copies what is live once the rest outweighs it. */
  const compact = () => {
    if (held < 2 * live + 4 * SLAB_BYTES) return;
    const [oldSlabs, oldPlaces] = [slabs, places];
    [slabs, places, held, live] = [[], [], 0, 0];
    for (let slot = 0; slot * 3 < oldPlaces.length; slot += 1) {
      const terms = view(oldSlabs, oldPlaces, slot);
      if (terms.byteLength > 0) put(slot, terms);
    }
  };

  return {
    set: put,
    get: (slot) => view(slabs, places, slot),
    delete: (slot) => {
      live -= view(slabs, places, slot).byteLength;
      places[slot * 3 + 2] = places[slot * 3 + 1] ?? 0;
      compact();
    },
  };
}
