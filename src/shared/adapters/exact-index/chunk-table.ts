import { grown } from './columns.js';
import type { MakeKernel } from './kernel.js';
import { createTermStore, type SlabEvents, type TermStore } from './term-store.js';
import { createVectors, type Vectors } from './vectors.js';
import { createWordSegments, type WordSegments } from './word-segments.js';

/** Vectors by slot, and which chunk of which document each is. */
export interface ChunkTable {
  /** Chunks of documents; vectors of drafts do not count. */
  readonly count: number;
  /** Null while there never was a vector. */
  readonly vectors: Vectors | null;
  /** Slots that hold a chunk are below. */
  readonly size: number;
  /** Slot of the document that a slot's chunk is of; -1 when it holds none. */
  documentOf(slot: number): number;
  /** Number of a slot's chunk within its document. */
  numberOf(slot: number): number;
  /** @returns the vector's slot, or null when it has not the length of the others */
  add(chunk: {
    readonly vector: Uint8Array;
    readonly terms: Uint8Array;
    readonly tie: number;
  }): number | null;
  readonly terms: Pick<TermStore, 'read' | 'writePlace'>;
  readonly words: Pick<WordSegments, 'score'>;
  /** Gives back the slot of a vector that never was linked. */
  free(slot: number): void;
  /** Makes vectors that were added the chunks of a document, in this order. @returns the slot of the first, or -1 */
  link(slots: readonly number[], documentSlot: number): number;
  /** Slot of a document's next chunk; -1 after the last. */
  after(slot: number): number;
  /** Takes a chunk of a document, those after it, and their vectors away. */
  unlink(first: number): void;
}

export function createChunkTable(
  makeKernel: MakeKernel,
  on: SlabEvents & { readonly change: (slot: number) => void; readonly clear: () => void },
): ChunkTable {
  const allTerms = createTermStore(on);
  const words = createWordSegments((slot) => allTerms.read(slot));
  let vectors: Vectors | null = null;
  /** By slot, in columns: objects would weigh several times as much. Slots in them count from 1, 0 is none. */
  let documents = new Int32Array(0);
  let numbers = new Int32Array(0);
  let nexts = new Int32Array(0);
  let [count, size] = [0, 0];

  /** The first vector tells the length of all; when none is left, the next may be of another model. */
  const vectorsFor = (bytes: Uint8Array): Vectors | null => {
    const dimensions = bytes.byteLength / 4;
    if (vectors?.dimensions === dimensions) return vectors;
    if (dimensions === 0 || !Number.isInteger(dimensions) || vectors?.isEmpty === false) return null;
    documents.fill(0);
    size = 0;
    on.clear();
    vectors = createVectors(makeKernel, dimensions);
    return vectors;
  };

  const free = (slot: number) => {
    vectors?.free(slot);
    words.remove(slot);
    allTerms.delete(slot);
  };

  const after = (slot: number) => (nexts[slot] ?? 0) - 1;

  return {
    get count() {
      return count;
    },
    get vectors() {
      return vectors;
    },
    get size() {
      return size;
    },
    documentOf: (slot) => (documents[slot] ?? 0) - 1,
    numberOf: (slot) => numbers[slot] ?? 0,
    add: ({ vector, terms, tie }) => {
      const slot = vectorsFor(vector)?.add(vector, tie) ?? null;
      if (slot === null) return null;
      allTerms.set(slot, terms);
      words.add(slot, terms);
      return slot;
    },
    terms: allTerms,
    words,
    free,
    link: (slots, documentSlot) => {
      for (const [number, slot] of slots.entries()) {
        documents = grown(documents, slot + 1);
        numbers = grown(numbers, slot + 1);
        nexts = grown(nexts, slot + 1);
        documents[slot] = documentSlot + 1;
        numbers[slot] = number;
        nexts[slot] = (slots[number + 1] ?? -1) + 1;
        size = Math.max(size, slot + 1);
      }
      count += slots.length;
      return slots[0] ?? -1;
    },
    after,
    unlink: (first) => {
      for (let slot = first; slot >= 0; slot = after(slot)) {
        documents[slot] = 0;
        free(slot);
        on.change(slot);
        count -= 1;
      }
    },
  };
}
