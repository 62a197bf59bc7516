import type { MakeKernel } from '../scan/kernel.js';
import { createChunkLinks, type ChunkLinks } from './chunk-links.js';
import { createTermStore, type SlabEvents, type TermStore } from './term-store.js';
import { createVectors, type Vectors } from './vectors.js';
import { createTermSegments, type TermSegments } from './term-segments.js';

interface NewChunk {
  /** Little-endian FLOAT32. */
  readonly vector: Uint8Array;
  /** Packed term counts. */
  readonly terms: Uint8Array;
  /** See `tieKey`. */
  readonly tie: number;
}

/** Vectors by slot, and which chunk of which document each is. */
export interface ChunkTable {
  /** Chunks that belong to documents. Chunks that are being loaded do not count. */
  readonly count: number;
  /** Null before the first vector. */
  readonly vectors: Vectors | null;
  /** Which chunk of which document each slot holds. */
  readonly links: Pick<ChunkLinks, 'size' | 'documentOf' | 'numberOf' | 'after'>;
  /** Stores a chunk. @returns its slot, or null when its vector has another length than the others */
  add(chunk: NewChunk): number | null;
  readonly terms: Pick<TermStore, 'read' | 'writePlace'>;
  readonly postings: Pick<TermSegments, 'score'>;
  /** Frees the slots of chunks that were never linked. */
  free(slots: readonly number[]): void;
  /** Makes these slots the chunks of a document, in this order. @returns the first slot, or -1 without any */
  link(slots: readonly number[], documentSlot: number): number;
  /** Removes a chunk of a document and all chunks after it. */
  unlink(first: number): void;
}

/** Called for changes of the table. */
export interface ChunkTableEvents extends SlabEvents {
  /** The slot holds no chunk any more. */
  readonly change: (slot: number) => void;
  /** No slot holds anything any more, because vectors of another length follow. */
  readonly clear: () => void;
}

interface Columns {
  readonly terms: TermStore;
  readonly postings: TermSegments;
  readonly links: ChunkLinks;
  vectors: Vectors | null;
  count: number;
}

export function createChunkTable(makeKernel: MakeKernel, on: ChunkTableEvents): ChunkTable {
  const terms = createTermStore(on);
  const postings = createTermSegments((slot) => terms.read(slot));
  const columns: Columns = { terms, postings, links: createChunkLinks(), vectors: null, count: 0 };
  return {
    get count() {
      return columns.count;
    },
    get vectors() {
      return columns.vectors;
    },
    links: columns.links,
    terms,
    postings,
    add: (chunk) => {
      const vectors = vectorsOfLength(columns, chunk.vector.byteLength / 4, { makeKernel, on });
      return vectors && add(columns, vectors, chunk);
    },
    free: (slots) => free(columns, slots),
    link: (slots, documentSlot) => {
      columns.links.link(slots, documentSlot);
      columns.count += slots.length;
      return slots[0] ?? -1;
    },
    unlink: (first) => unlink(columns, first, on),
  };
}

/**
 * The store for vectors of this length; null when the table holds vectors of another length. The first vector decides the
 * length of all; once none is left, the next may be of another model.
 */
function vectorsOfLength(
  columns: Columns,
  dimensions: number,
  { makeKernel, on }: { readonly makeKernel: MakeKernel; readonly on: ChunkTableEvents },
): Vectors | null {
  const { vectors, links } = columns;
  if (vectors?.dimensions === dimensions) return vectors;
  if (dimensions === 0 || !Number.isInteger(dimensions) || vectors?.isEmpty === false) return null;
  links.clear();
  on.clear();
  return (columns.vectors = createVectors(makeKernel, dimensions));
}

function add({ terms, postings }: Columns, vectors: Vectors, chunk: NewChunk): number {
  const slot = vectors.add(chunk.vector, chunk.tie);
  terms.set(slot, chunk.terms);
  postings.add(slot, chunk.terms);
  return slot;
}

function free({ vectors, postings, terms }: Columns, slots: readonly number[]): void {
  // The postings may be rewritten, for which the terms of other slots are read.
  postings.remove(slots);
  for (const slot of slots) {
    vectors?.free(slot);
    terms.delete(slot);
  }
}

function unlink(columns: Columns, first: number, on: ChunkTableEvents): void {
  const { links } = columns;
  const slots: number[] = [];
  for (let slot = first; slot >= 0; slot = links.after(slot)) slots.push(slot);
  free(columns, slots);
  for (const slot of slots) {
    links.unlink(slot);
    on.change(slot);
  }
  columns.count -= slots.length;
}
