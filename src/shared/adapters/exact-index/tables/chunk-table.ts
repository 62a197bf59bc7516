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
  /** Chunks of documents; vectors of drafts do not count. */
  readonly count: number;
  /** Null while there never was a vector. */
  readonly vectors: Vectors | null;
  /** Which chunk of which document each slot holds. */
  readonly links: Pick<ChunkLinks, 'size' | 'documentOf' | 'numberOf' | 'after'>;
  /** @returns the vector's slot, or null when it has not the length of the others */
  add(chunk: NewChunk): number | null;
  readonly terms: Pick<TermStore, 'read' | 'writePlace'>;
  readonly postings: Pick<TermSegments, 'score'>;
  /** Gives back the slot of a vector that never was linked. */
  free(slot: number): void;
  /** Makes vectors that were added the chunks of a document, in this order. @returns the slot of the first, or -1 */
  link(slots: readonly number[], documentSlot: number): number;
  /** Takes a chunk of a document, those after it, and their vectors away. */
  unlink(first: number): void;
}

/** What is told of changes of the table. */
export interface ChunkTableEvents extends SlabEvents {
  /** The chunk of a slot is gone. */
  readonly change: (slot: number) => void;
  /** All slots are void: vectors of another length have taken the place of all. */
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
    free: (slot) => free(columns, slot),
    link: (slots, documentSlot) => {
      columns.links.link(slots, documentSlot);
      columns.count += slots.length;
      return slots[0] ?? -1;
    },
    unlink: (first) => unlink(columns, first, on),
  };
}

/**
 * The vectors of this length; null when the table has vectors of another one. The first vector decides the length of
 * all; when none is left, the next may be of another model.
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

function free({ vectors, postings, terms }: Columns, slot: number): void {
  vectors?.free(slot);
  postings.remove(slot);
  terms.delete(slot);
}

function unlink(columns: Columns, first: number, on: ChunkTableEvents): void {
  const { links } = columns;
  for (let slot = first; slot >= 0; slot = links.after(slot)) {
    links.unlink(slot);
    free(columns, slot);
    on.change(slot);
    columns.count -= 1;
  }
}
