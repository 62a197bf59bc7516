import type { MakeKernel } from '../scan/kernel.js';
import { createChunkLinks, type ChunkLinks } from './chunk-links.js';
import { createTermStore, type SlabEvents, type TermStore } from './term-store.js';
import { createVectors, type Vectors } from './vectors.js';
import { createTermSegments, type TermSegments } from './term-segments.js';

/** Vectors by slot, and which chunk of which document each is. */
export interface ChunkTable {
  /** Chunks of documents; vectors of drafts do not count. */
  readonly count: number;
  /** Null while there never was a vector. */
  readonly vectors: Vectors | null;
  /** Which chunk of which document each slot holds. */
  readonly links: Pick<ChunkLinks, 'size' | 'documentOf' | 'numberOf' | 'after'>;
  /** @returns the vector's slot, or null when it has not the length of the others */
  add(chunk: {
    readonly vector: Uint8Array;
    readonly terms: Uint8Array;
    readonly tie: number;
  }): number | null;
  readonly terms: Pick<TermStore, 'read' | 'writePlace'>;
  readonly postings: Pick<TermSegments, 'score'>;
  /** Gives back the slot of a vector that never was linked. */
  free(slot: number): void;
  /** Makes vectors that were added the chunks of a document, in this order. @returns the slot of the first, or -1 */
  link(slots: readonly number[], documentSlot: number): number;
  /** Takes a chunk of a document, those after it, and their vectors away. */
  unlink(first: number): void;
}

export function createChunkTable(
  makeKernel: MakeKernel,
  on: SlabEvents & { readonly change: (slot: number) => void; readonly clear: () => void },
): ChunkTable {
  const packedTerms = createTermStore(on);
  const postings = createTermSegments((slot) => packedTerms.read(slot));
  let vectors: Vectors | null = null;
  const links = createChunkLinks();
  let count = 0;

  /** The first vector tells the length of all; when none is left, the next may be of another model. */
  const vectorsFor = (bytes: Uint8Array): Vectors | null => {
    const dimensions = bytes.byteLength / 4;
    if (vectors?.dimensions === dimensions) return vectors;
    if (dimensions === 0 || !Number.isInteger(dimensions) || vectors?.isEmpty === false) return null;
    links.clear();
    on.clear();
    vectors = createVectors(makeKernel, dimensions);
    return vectors;
  };

  const free = (slot: number) => {
    vectors?.free(slot);
    postings.remove(slot);
    packedTerms.delete(slot);
  };

  return {
    get count() {
      return count;
    },
    get vectors() {
      return vectors;
    },
    links,
    add: ({ vector, terms, tie }) => {
      const slot = vectorsFor(vector)?.add(vector, tie) ?? null;
      if (slot === null) return null;
      packedTerms.set(slot, terms);
      postings.add(slot, terms);
      return slot;
    },
    terms: packedTerms,
    postings,
    free,
    link: (slots, documentSlot) => {
      links.link(slots, documentSlot);
      count += slots.length;
      return slots[0] ?? -1;
    },
    unlink: (first) => {
      for (let slot = first; slot >= 0; slot = links.after(slot)) {
        links.unlink(slot);
        free(slot);
        on.change(slot);
        count -= 1;
      }
    },
  };
}
