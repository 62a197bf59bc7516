import type { MakeKernel } from './kernel.js';
import type { MirroredChunk, MirroredContent } from './mirrored.js';
import { createTermStore } from './term-store.js';
import { createVectors, type Vectors } from './vectors.js';

/** Vectors by slot, and which chunk of which document each is. */
export interface ChunkTable {
  /** Chunks of documents; vectors of drafts do not count. */
  readonly count: number;
  /** Null while there never was a vector. */
  readonly vectors: Vectors | null;
  /** By vector slot. */
  readonly chunks: readonly (MirroredChunk | undefined)[];
  /** @returns the vector's slot, or null when it has not the length of the others */
  add(chunk: {
    readonly vector: Uint8Array;
    readonly terms: Uint8Array;
    readonly tie: number;
  }): number | null;
  /** Packed terms of a chunk: a view, valid until the next change. */
  terms(slot: number): Uint8Array;
  /** Gives back the slot of a vector that never was linked. */
  free(slot: number): void;
  /** Makes vectors that were added the chunks of a document. */
  link(content: MirroredContent, documentSlot: number): void;
  /** Takes a document's chunks and their vectors away. */
  unlink(content: MirroredContent): void;
}

export function createChunkTable(
  makeKernel: MakeKernel,
  on: { readonly change: (slot: number) => void; readonly clear: () => void },
): ChunkTable {
  const chunks: (MirroredChunk | undefined)[] = [];
  const allTerms = createTermStore();
  let vectors: Vectors | null = null;
  let count = 0;

  /** The first vector tells the length of all; when none is left, the next may be of another model. */
  const vectorsFor = (bytes: Uint8Array): Vectors | null => {
    const dimensions = bytes.byteLength / 4;
    if (vectors?.dimensions === dimensions) return vectors;
    if (dimensions === 0 || !Number.isInteger(dimensions) || vectors?.isEmpty === false) return null;
    chunks.length = 0;
    on.clear();
    vectors = createVectors(makeKernel, dimensions);
    return vectors;
  };

  const free = (slot: number) => {
    vectors?.free(slot);
    allTerms.delete(slot);
  };

  return {
    get count() {
      return count;
    },
    get vectors() {
      return vectors;
    },
    chunks,
    add: ({ vector, terms, tie }) => {
      const slot = vectorsFor(vector)?.add(vector, tie) ?? null;
      if (slot !== null) allTerms.set(slot, terms);
      return slot;
    },
    terms: (slot) => allTerms.get(slot),
    free,
    link: (content, documentSlot) => {
      for (const [number, slot] of content.vectors.entries()) {
        while (chunks.length <= slot) chunks.push(undefined);
        chunks[slot] = { documentSlot, number };
      }
      count += content.vectors.length;
    },
    unlink: (content) => {
      for (const slot of content.vectors) {
        chunks[slot] = undefined;
        free(slot);
        on.change(slot);
      }
      count -= content.vectors.length;
    },
  };
}
