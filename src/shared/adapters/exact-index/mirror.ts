import type { WeightedWords } from '../../ports.js';
import { createChunkTable } from './chunk-table.js';
import { createDocumentTable } from './document-table.js';
import type { MakeKernel } from './kernel.js';
import { createMasks, type Masks } from './masks.js';
import { compareIds, type Draft, type MirroredDocument } from './mirrored.js';
import { packCandidates, type PackedCandidates } from './packed-candidates.js';
import type { ParsedRecord } from './record-fields.js';
import { createSelection } from './selection.js';
import type { SlabEvents } from './term-store.js';
import { scanWords } from './word-scan.js';
import type { Mask } from './working-mask.js';

/** What may be found. */
interface Selection {
  readonly mask: Mask;
}

/** Records, vectors and terms of all documents, in memory. Each change and each answer is one synchronous step. */
export interface Mirror {
  readonly chunkCount: number;
  get(documentId: string): MirroredDocument | undefined;
  /** Adds the next chunk of a draft. @returns false when its vector has not the length of the others */
  addTo(draft: Draft, vector: Uint8Array, terms: Uint8Array): boolean;
  /** Gives up a draft and forgets its chunks. */
  discard(draft: Draft): void;
  /** Makes a draft what the document answers with; `kept` leaves its chunks as they are, null takes them away. */
  put(record: ParsedRecord, content: Draft | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** What answers need first: computed in slices, while others are answered. */
  readonly prepare: Masks['prepare'];
  search(request: Selection & { readonly vector: Float32Array; readonly limit: number }): PackedCandidates;
  searchWords(
    request: Selection & {
      readonly words: WeightedWords;
      readonly limit: number;
      /** To tell similarities to. */
      readonly vector?: Float32Array;
    },
  ): PackedCandidates;
  list(request: Selection & { readonly skip: number; readonly limit: number }): string[];
  count(request: Selection): number;
}

export function createMirror(makeKernel: MakeKernel, slabEvents: SlabEvents): Mirror {
  const chunks = createChunkTable(makeKernel, {
    ...slabEvents,
    change: (slot) => {
      masks.noteVector(slot);
    },
    clear: () => {
      masks.clear();
    },
  });
  const store = createDocumentTable(chunks, (slot) => {
    masks.noteDocument(slot);
  });
  const { documents } = store;
  const masks = createMasks(() => ({ documents, chunks, segmentSize: chunks.vectors?.segmentSize ?? 1 }));

  const selection = createSelection((a, b) => {
    const [left, right] = [documents[chunks.documentOf(a)], documents[chunks.documentOf(b)]];
    return compareIds(left?.id ?? '', right?.id ?? '') || chunks.numberOf(a) - chunks.numberOf(b);
  });

  return {
    get chunkCount() {
      return chunks.count;
    },
    get: (documentId) => store.get(documentId),
    addTo: ({ tie, vectors }, vector, terms) => {
      const slot = chunks.add({ vector, terms, tie });
      if (slot !== null) vectors.push(slot);
      return slot !== null;
    },
    discard: ({ vectors }) => {
      for (const slot of vectors) chunks.free(slot);
      vectors.length = 0;
    },
    put: (record, content) => {
      store.put(record, content);
    },
    remove: (documentId) => {
      store.remove(documentId);
    },
    clear: () => {
      store.clear();
      masks.clear();
    },
    prepare: (selector, isWanted) => masks.prepare(selector, isWanted),
    search: ({ mask, vector, limit }) => {
      const { vectors, count } = chunks;
      selection.begin(Math.min(limit, count));
      if (vectors && count > 0) {
        if (vector.length !== vectors.dimensions) {
          const lengths = `${String(vector.length)} dimensions, the data ${String(vectors.dimensions)}`;
          throw new Error(`the query vector has ${lengths}`);
        }
        if (mask.count > 0 && limit > 0) vectors.scan(vector, mask.vectors, selection);
      }
      return packCandidates(selection.take(), { chunks, documents });
    },
    searchWords: ({ mask, words, limit, vector }) => {
      const { vectors, count } = chunks;
      selection.begin(Math.min(limit, count));
      if (mask.count > 0) scanWords(chunks, mask.vectors, { words, selection });
      const { slots } = selection.take();
      const scores = Float32Array.from(slots, (slot) =>
        vector && vectors ? vectors.similarity(vector, slot) : Number.NaN,
      );
      return packCandidates({ slots, scores }, { chunks, documents });
    },
    list: ({ mask, skip, limit }) => {
      const ids: string[] = [];
      let matching = 0;
      for (const slot of mask.count > skip ? store.listed() : []) {
        if (ids.length >= limit || matching >= mask.count) break;
        if (mask.documents[slot] !== 1) continue;
        matching += 1;
        if (matching > skip) ids.push(documents[slot]?.id ?? '');
      }
      return ids;
    },
    count: ({ mask }) => mask.count,
  };
}
