import { at } from '../../../at.js';
import type { TermWeights } from '../../../ports.js';
import { packCandidates, type PackedCandidates } from '../packed-candidates.js';
import type { MakeKernel } from '../scan/kernel.js';
import { createMasks, type Masks } from '../scan/masks.js';
import { createSelection, type Selected, type Selection } from '../scan/selection.js';
import { scanTerms } from '../scan/term-scan.js';
import type { Mask } from '../scan/working-mask.js';
import { createChunkTable, type ChunkTable } from '../tables/chunk-table.js';
import { createDocumentTable, type DocumentTable } from '../tables/document-table.js';
import type { SlabEvents } from '../tables/term-store.js';
import { compareIds, type LoadedChunks, type MirroredDocument } from './mirrored.js';
import type { ParsedRecord } from './record-parser.js';

/** The documents and chunks that may be found. */
interface Request {
  readonly mask: Mask;
}

interface NearestRequest extends Request {
  readonly vector: Float32Array;
  readonly limit: number;
}

interface TermsRequest extends Request {
  readonly query: TermWeights;
  readonly limit: number;
  /** When given, candidates get their similarity to it. */
  readonly vector?: Float32Array;
}

interface ListRequest extends Request {
  readonly skip: number;
  readonly limit: number;
}

/** Records, vectors and terms of all documents in memory. Each change and each answer is one synchronous step. */
export interface Mirror {
  readonly chunkCount: number;
  get(documentId: string): MirroredDocument | undefined;
  /** Adds the next chunk of a generation. @returns false when its vector has another length than the others */
  addTo(loaded: LoadedChunks, vector: Uint8Array, terms: Uint8Array): boolean;
  /** Forgets the chunks of a generation whose loading failed. */
  discard(loaded: LoadedChunks): void;
  /** Makes the document answer with these chunks; `kept` leaves it the chunks that it has, null leaves it none. */
  put(record: ParsedRecord, content: LoadedChunks | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** Computes the mask of an answer in slices, between which others are answered. */
  readonly prepare: Masks['prepare'];
  search(request: NearestRequest): PackedCandidates;
  searchTerms(request: TermsRequest): PackedCandidates;
  list(request: ListRequest): string[];
  count(request: Request): number;
}

export function createMirror(makeKernel: MakeKernel, slabEvents: SlabEvents): Mirror {
  const chunks = createChunkTable(makeKernel, {
    ...slabEvents,
    change: (slot) => masks.noteVector(slot),
    clear: () => masks.clear(),
  });
  const store = createDocumentTable(chunks, (slot) => masks.noteDocument(slot));
  const { documents } = store;
  const masks = createMasks(() => ({
    documents,
    chunks: chunks.links,
    segmentSize: chunks.vectors?.segmentSize ?? 1,
  }));
  const tables = { chunks, documents };
  const selection = createSelection((a, b) => compareChunks(tables, a, b));

  return {
    get chunkCount() {
      return chunks.count;
    },
    get: (documentId) => store.get(documentId),
    addTo: (loaded, vector, terms) => addTo(chunks, loaded, { vector, terms }),
    discard: (loaded) => discard(chunks, loaded),
    put: (record, content) => store.put(record, content),
    remove: (documentId) => store.remove(documentId),
    clear: () => {
      store.clear();
      masks.clear();
    },
    prepare: (selector, isWanted) => masks.prepare(selector, isWanted),
    search: (request) => packCandidates(selectNearest(chunks, selection, request), tables),
    searchTerms: (request) => packCandidates(selectByTerms(chunks, selection, request), tables),
    list: (request) => listIds(store, request),
    count: ({ mask }) => mask.count,
  };
}

interface MirrorTables {
  readonly chunks: ChunkTable;
  readonly documents: DocumentTable['documents'];
}

/** Orders chunks, given by their vector slots, by document id and then by chunk number. */
function compareChunks({ chunks: { links }, documents }: MirrorTables, a: number, b: number): number {
  const left = at(documents, links.documentOf(a));
  const right = at(documents, links.documentOf(b));
  return compareIds(left.id, right.id) || links.numberOf(a) - links.numberOf(b);
}

function addTo(
  chunks: ChunkTable,
  { tie, slots }: LoadedChunks,
  chunk: { readonly vector: Uint8Array; readonly terms: Uint8Array },
): boolean {
  const slot = chunks.add({ ...chunk, tie });
  if (slot !== null) slots.push(slot);
  return slot !== null;
}

function discard(chunks: ChunkTable, { slots }: LoadedChunks): void {
  chunks.free(slots);
  slots.length = 0;
}

function selectNearest(
  { vectors, count }: ChunkTable,
  selection: Selection,
  { mask, vector, limit }: NearestRequest,
): Selected {
  selection.begin(Math.min(limit, count));
  if (vectors && count > 0) {
    if (vector.length !== vectors.dimensions) {
      const lengths = `${String(vector.length)} dimensions, the data ${String(vectors.dimensions)}`;
      throw new Error(`the query vector has ${lengths}`);
    }
    if (mask.count > 0 && limit > 0) vectors.scan(vector, mask.vectors, selection);
  }
  return selection.take();
}

/** Selects the chunks that score highest by the terms of the query; the scores it returns are similarities. */
function selectByTerms(
  chunks: ChunkTable,
  selection: Selection,
  { mask, query, limit, vector }: TermsRequest,
): Selected {
  const { vectors, count } = chunks;
  selection.begin(Math.min(limit, count));
  if (mask.count > 0) scanTerms(chunks, mask.vectors, { query, selection });
  const { slots } = selection.take();
  const scores = Float32Array.from(slots, (slot) =>
    vector && vectors ? vectors.similarity(vector, slot) : Number.NaN,
  );
  return { slots, scores };
}

function listIds(store: DocumentTable, { mask, skip, limit }: ListRequest): string[] {
  const ids: string[] = [];
  let matching = 0;
  for (const slot of mask.count > skip ? store.listed() : []) {
    if (ids.length >= limit || matching >= mask.count) break;
    if (mask.documents[slot] !== 1) continue;
    matching += 1;
    if (matching > skip) ids.push(at(store.documents, slot).id);
  }
  return ids;
}
