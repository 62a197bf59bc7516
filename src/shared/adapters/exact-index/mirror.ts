import type { Filter } from '../../filters.js';
import { createChunkTable } from './chunk-table.js';
import { createDocumentTable } from './document-table.js';
import { createDraft, type Draft } from './draft.js';
import type { MakeKernel } from './kernel.js';
import { createMasks } from './masks.js';
import { compareIds, type MirroredContent, type MirroredDocument } from './mirrored.js';
import type { ParsedRecord } from './record-fields.js';
import { createSelection } from './selection.js';
import { tieKey } from './tie-key.js';

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
  put(record: ParsedRecord, content: MirroredContent | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  search(request: Selector & { readonly vector: Float32Array; readonly limit: number }): FoundChunk[];
  list(request: Selector & { readonly skip: number; readonly limit: number }): string[];
  count(request: Selector): number;
}

export function createMirror(makeKernel: MakeKernel): Mirror {
  const table = createChunkTable(makeKernel, {
    change: (slot) => {
      masks.noteVector(slot);
    },
    clear: () => {
      masks.clear();
    },
  });
  const { chunks } = table;
  const store = createDocumentTable(table, (slot) => {
    masks.noteDocument(slot);
  });
  const { documents } = store;
  const masks = createMasks(() => ({ documents, chunks, segmentSize: table.vectors?.segmentSize ?? 1 }));

  const compareChunks = (a: number, b: number) => {
    const [left, right] = [chunks[a], chunks[b]];
    if (!left || !right) return 0;
    const [before, after] = [documents[left.documentSlot], documents[right.documentSlot]];
    return compareIds(before?.record.id ?? '', after?.record.id ?? '') || left.number - right.number;
  };

  const describe = (best: readonly { readonly slot: number; readonly score: number }[]): FoundChunk[] => {
    const found: FoundChunk[] = [];
    for (const { slot, score: similarity } of best) {
      const chunk = chunks[slot];
      const document = chunk && documents[chunk.documentSlot];
      if (!chunk || !document?.content) continue;
      const { number } = chunk;
      const { generation } = document.content;
      found.push({
        documentId: document.record.id,
        generation,
        number,
        similarity,
        terms: table.terms(slot),
      });
    }
    return found;
  };

  return {
    get chunkCount() {
      return table.count;
    },
    get: (documentId) => store.get(documentId),
    draft: (documentId) => {
      const tie = tieKey(documentId);
      return createDraft({
        add: (vector, terms) => table.add({ vector, terms, tie }),
        free: (slot) => {
          table.free(slot);
        },
      });
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
    search: ({ callerId, filter, vector, limit }) => {
      const { vectors, count } = table;
      if (!vectors || count === 0) return [];
      if (vector.length !== vectors.dimensions) {
        const lengths = `${String(vector.length)} dimensions, the data ${String(vectors.dimensions)}`;
        throw new Error(`the query vector has ${lengths}`);
      }
      const mask = masks.get(callerId, filter);
      if (mask.count === 0 || limit === 0) return [];
      const selection = createSelection(Math.min(limit, count), compareChunks);
      vectors.scan(vector, mask.vectors, selection);
      return describe(selection.take());
    },
    list: ({ callerId, filter, skip, limit }) => {
      const mask = masks.get(callerId, filter);
      const ids: string[] = [];
      let matching = 0;
      for (const slot of mask.count > skip ? store.listed() : []) {
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
