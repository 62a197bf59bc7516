import type { MatchableDocument } from '../../document.js';
import type { Filter } from '../../filters.js';
import { createAccessClasses } from './access-classes.js';
import { createDraft, type Draft } from './draft.js';
import type { MakeKernel } from './kernel.js';
import { createListingOrder } from './listing-order.js';
import { createMasks } from './masks.js';
import { compareIds, type MirroredChunk, type MirroredContent, type MirroredDocument } from './mirrored.js';
import { createSelection } from './selection.js';
import { tieKey } from './tie-key.js';
import { createVectors, type Vectors } from './vectors.js';

export interface Selector {
  readonly callerId: string;
  readonly filter: Filter | null;
}

export interface FoundChunk {
  readonly documentId: string;
  readonly generation: string;
  readonly number: number;
  readonly similarity: number;
  /** View of the mirror's memory: to be copied before anything else happens. */
  readonly terms: Uint8Array;
}

/** Records, vectors and terms of all documents, in memory. Each change and each answer is one synchronous step. */
export interface Mirror {
  readonly chunkCount: number;
  get(documentId: string): MirroredDocument | undefined;
  /** Collects the chunks of a generation aside, until `put` makes them what the document answers with. */
  draft(documentId: string): Draft;
  /** `kept` leaves the chunks as they are, null takes them away. */
  put(record: MatchableDocument, content: MirroredContent | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  search(request: Selector & { readonly vector: Float32Array; readonly limit: number }): FoundChunk[];
  list(request: Selector & { readonly skip: number; readonly limit: number }): string[];
  count(request: Selector): number;
}

export function createMirror(makeKernel: MakeKernel): Mirror {
  const slots = new Map<string, number>();
  const documents: (MirroredDocument | undefined)[] = [];
  const freeSlots: number[] = [];
  const chunks: (MirroredChunk | undefined)[] = [];
  const classes = createAccessClasses();
  let vectors: Vectors | null = null;
  let chunkCount = 0;

  const masks = createMasks(() => ({ documents, chunks, segmentSize: vectors?.segmentSize ?? 1 }));
  const order = createListingOrder((a, b) => compareForListing(documents[a], documents[b]));

  const dropVectors = (content: MirroredContent | null) => {
    for (const vector of content?.vectors ?? []) {
      chunks[vector] = undefined;
      vectors?.free(vector);
      masks.noteVector(vector);
      chunkCount -= 1;
    }
  };
  const linkVectors = (content: MirroredContent, documentSlot: number) => {
    for (const [number, vector] of content.vectors.entries()) {
      while (chunks.length <= vector) chunks.push(undefined);
      chunks[vector] = { documentSlot, number };
      chunkCount += 1;
    }
  };

  const compareChunks = (a: number, b: number) => {
    const [left, right] = [chunks[a], chunks[b]];
    if (!left || !right) return 0;
    const [before, after] = [documents[left.documentSlot], documents[right.documentSlot]];
    return compareIds(before?.record.id ?? '', after?.record.id ?? '') || left.number - right.number;
  };

  const get = (documentId: string) => {
    const slot = slots.get(documentId);
    return slot === undefined ? undefined : documents[slot];
  };

  const found = (vector: number, similarity: number): FoundChunk[] => {
    const chunk = chunks[vector];
    if (!chunk) return [];
    const document = documents[chunk.documentSlot];
    if (!document?.content) return [];
    const { generation, terms, termEnds } = document.content;
    const [start, end] = [termEnds[chunk.number - 1] ?? 0, termEnds[chunk.number]];
    const { number } = chunk;
    return [
      { documentId: document.record.id, generation, number, similarity, terms: terms.subarray(start, end) },
    ];
  };

  return {
    get chunkCount() {
      return chunkCount;
    },
    get,
    draft: (documentId) => {
      const tie = tieKey(documentId);
      return createDraft({
        add: (bytes) => {
          if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0) return null;
          // The first vector tells the length of all; without any left, the next one may be of another model.
          if (!vectors || (vectors.isEmpty && vectors.dimensions * 4 !== bytes.byteLength)) {
            vectors = createVectors(makeKernel, bytes.byteLength / 4);
            chunks.length = 0;
            masks.clear();
          }
          return vectors.dimensions * 4 === bytes.byteLength ? vectors.add(bytes, tie) : null;
        },
        free: (vector) => vectors?.free(vector),
      });
    },
    put: (record, content) => {
      const before = get(record.id);
      const slot = before?.slot ?? freeSlots.pop() ?? documents.length;
      const next = content === 'kept' ? (before?.content ?? null) : content;
      if (before && before.content !== next) dropVectors(before.content);
      if (next && before?.content !== next) linkVectors(next, slot);
      const access = classes.acquire(record);
      if (before) classes.release(before.access);
      documents[slot] = {
        ...{ slot, access, content: next, createdAtMs: Date.parse(record.createdAt) },
        record: { ...record, ...access.lists },
      };
      slots.set(record.id, slot);
      if (!before) order.add(slot);
      masks.noteDocument(slot);
    },
    remove: (documentId) => {
      const document = get(documentId);
      if (!document) return;
      dropVectors(document.content);
      classes.release(document.access);
      documents[document.slot] = undefined;
      slots.delete(documentId);
      freeSlots.push(document.slot);
      order.remove(document.slot);
      masks.noteDocument(document.slot);
    },
    clear: () => {
      for (const document of documents) {
        if (!document) continue;
        dropVectors(document.content);
        classes.release(document.access);
      }
      slots.clear();
      documents.length = 0;
      freeSlots.length = 0;
      order.clear();
      masks.clear();
    },
    search: ({ callerId, filter, vector, limit }) => {
      if (!vectors || chunkCount === 0) return [];
      if (vector.length !== vectors.dimensions) {
        throw new Error(
          `the query vector has ${String(vector.length)} dimensions, the data ${String(vectors.dimensions)}`,
        );
      }
      const selection = createSelection(Math.min(limit, chunkCount), compareChunks);
      vectors.scan(vector, masks.get(callerId, filter).vectors, selection);
      return selection.take().flatMap(({ slot, score }) => found(slot, score));
    },
    list: ({ callerId, filter, skip, limit }) => {
      const mask = masks.get(callerId, filter);
      const ids: string[] = [];
      let matching = 0;
      for (const slot of order.read()) {
        if (ids.length >= limit || matching >= mask.count) break;
        if (mask.documents[slot] !== 1) continue;
        matching += 1;
        if (matching > skip) ids.push(documents[slot]?.record.id ?? '');
      }
      return ids;
    },
    count: ({ callerId, filter }) => masks.get(callerId, filter).count,
  };
}

function compareForListing(a: MirroredDocument | undefined, b: MirroredDocument | undefined): number {
  if (!a || !b) return 0;
  return (
    b.createdAtMs - a.createdAtMs ||
    compareIds(b.record.createdAt, a.record.createdAt) ||
    compareIds(a.record.id, b.record.id)
  );
}
