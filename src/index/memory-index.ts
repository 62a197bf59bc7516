import { createMasks, type Masks } from './masks/masks.js';
import type { Mask } from './masks/working-mask.js';
import { at } from '../shared/at.js';
import { loadPostingsKernel, type MakePostingsKernel } from './postings/kernel.js';
import { createScratch } from './postings/score-segment.js';
import { createShard } from './postings/shard/shard.js';
import { createSlotPositions, type SlotPositions } from './postings/shard/slot-positions.js';
import { createStoredVectors, type ChunkVectors } from './search/chunk-vectors.js';
import {
  countDocuments,
  listDocuments,
  type CountRequest,
  type ListRequest,
} from './search/list-documents.js';
import {
  packCandidates,
  type ChunkAddress,
  type PackedCandidates,
  type ScoredSlots,
} from './search/packed-candidates.js';
import { scoreWords, searchWords, type WordsQuery, type WordsRequest } from './search/search-words.js';
import { createTermVectors, type TermEmbedding } from './search/term-vectors.js';
import type { AppRules, AppTypes, Placed } from './tables/app.js';
import { createChunkTable, type ChunkTable } from './tables/chunk-table.js';
import {
  createDocumentTable,
  compareIds,
  type DocumentTable,
  type DocumentEntry,
  type IndexedDocument,
  type LoadedChunks,
} from './tables/document-table.js';
import {
  createPartitions,
  type OnDirty,
  type Partitions,
  type ReadablePartition,
} from './tables/partitions.js';
import { loadKernel, type MakeKernel } from './vectors/kernel.js';
import { createKnnCollector, type CompareSlots } from './vectors/knn-collector.js';
import { createVectors } from './vectors/vectors.js';

interface NearestRequest {
  readonly principal: AppTypes['principal'];
  readonly vector: Float32Array;
  readonly limit: number;
  /** The documents that may be found. */
  readonly mask: Mask;
}

/** Takes documents and chunks. Each change is one synchronous step, which the next search sees. */
export interface IndexWriter<App extends AppTypes> {
  /** Adds the next chunk of a generation. @returns false when its vector has another length than the others */
  addTo(loaded: LoadedChunks, vector: Uint8Array, terms: Uint8Array): boolean;
  /** Forgets the chunks of a generation whose loading failed. */
  discard(loaded: LoadedChunks): void;
  /** Makes the document answer with these chunks; `kept` leaves it the chunks that it has, null leaves it none. */
  put(entry: DocumentEntry<App>, content: LoadedChunks | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** Puts new chunks into postings. Searches find them before that, but slower. @returns true if nothing is left to be done */
  compact(isTimeLeft: () => boolean): boolean;
  /** Does the same, only with chunks that fill whole segments: for the time in which much is loaded. */
  flush(isTimeLeft: () => boolean): boolean;
}

/** Answers from the documents and chunks that the index holds. Each answer is one synchronous step. */
export interface Searcher<App extends AppTypes> {
  readonly chunkCount: number;
  /** The number of changes to anything that it answers. */
  readonly changes: number;
  get(documentId: string): IndexedDocument<App> | undefined;
  documentIds(): Iterable<string>;
  /** Computes the numbers that searches by vectors need, once. @returns true if that is done */
  prepareVectors(isTimeLeft: () => boolean): boolean;
  /** Tells whether the caller may read whole partitions only, so that a search by words needs no mask without a filter. */
  readsWholePartitions(principal: App['principal']): boolean;
  /** Computes the mask of an answer in slices, between which others are answered. */
  readonly prepare: Masks<App>['prepare'];
  searchVectors(request: NearestRequest): PackedCandidates;
  searchWords(request: WordsRequest): PackedCandidates;
  /** Similarities of chunks to a vector; NaN for chunks that the index does not serve. */
  similarities(vector: Float32Array, chunks: readonly ChunkAddress[]): Float64Array<ArrayBuffer>;
  /** Scores of chunks by the words of a query; NaN for chunks that the index does not serve. */
  wordScores(request: WordsQuery, chunks: readonly ChunkAddress[]): Float64Array<ArrayBuffer>;
  list(request: ListRequest<App['fields']>): Placed[];
  count(request: CountRequest<App['fields']>): number;
}

/** Documents, vectors and terms in memory. */
export type MemoryIndex<App extends AppTypes> = IndexWriter<App> & Searcher<App>;

interface Tables<App extends AppTypes> {
  readonly chunks: ChunkTable;
  readonly documents: DocumentTable<App>['documents'];
  readonly store: DocumentTable<App>;
  readonly partitions: Partitions<App>;
  readonly positions: SlotPositions;
  readonly masks: Masks<App>;
  readonly compare: CompareSlots;
  readonly changes: { count: number };
}

export interface MemoryIndexOptions<App extends AppTypes> {
  readonly kernels: Kernels;
  readonly rules: AppRules<App>;
  /** The source of the chunks' vectors: added with them, or made of their terms; with `none` only words are searched for. */
  readonly vectors: 'stored' | 'none' | TermEmbedding;
  /** Called when there is something to do for `compact`, and for `flush` if `isFull`. */
  readonly onDirty: OnDirty;
}

export function createMemoryIndex<App extends AppTypes>(options: MemoryIndexOptions<App>): MemoryIndex<App> {
  const tables = createTables(options);
  const { chunks, store, partitions, masks } = tables;
  const vectors =
    typeof options.vectors === 'string'
      ? createStoredVectors(chunks)
      : createTermVectors(tables, options.vectors);
  const nearest = createNearest(tables, vectors);

  return {
    get chunkCount() {
      return chunks.count;
    },
    get changes() {
      return tables.changes.count;
    },
    get: (documentId) => store.get(documentId),
    documentIds: () => store.ids(),
    addTo: (loaded, vector, terms) => addTo(chunks, loaded, { vector, terms }),
    discard: (loaded) => discard(chunks, loaded),
    put: (entry, content) => store.put(entry, content),
    remove: (documentId) => store.remove(documentId),
    clear: () => {
      tables.changes.count += 1;
      store.clear();
      masks.clear();
    },
    compact: (isTimeLeft) => partitions.compact(isTimeLeft),
    flush: (isTimeLeft) => partitions.flush(isTimeLeft),
    prepareVectors: (isTimeLeft) => vectors.prepare(isTimeLeft),
    readsWholePartitions: (principal) => partitions.readableBy(principal).every(({ isWhole }) => isWhole),
    prepare: (selector, isWanted) => masks.prepare(selector, isWanted),
    searchVectors: (request) => packCandidates(nearest(request), tables),
    searchWords: (request) => packCandidates(searchWords(tables, request), tables),
    similarities: (vector, addresses) => ofEach(tables, addresses, vectors.similarityTo(vector)),
    wordScores: (request, addresses) => ofEach(tables, addresses, scoreWords(tables, request)),
    list: (request) => listDocuments(store, request),
    count: (request) => countDocuments(store, request),
  };
}

/** Returns a function that finds the nearest chunks. Its result is valid until it is called again. */
function createNearest(
  { chunks, compare }: { readonly chunks: Pick<ChunkTable, 'count'>; readonly compare: CompareSlots },
  vectors: ChunkVectors,
): (request: NearestRequest) => ScoredSlots {
  const collector = createKnnCollector(compare);
  return ({ principal, vector, mask, limit }) => {
    collector.begin(Math.min(limit, chunks.count));
    if (limit > 0) vectors.collectNearest(vector, mask, collector, principal);
    return collector.take();
  };
}

function createTables<App extends AppTypes>({
  kernels,
  rules,
  vectors,
  onDirty,
}: MemoryIndexOptions<App>): Tables<App> {
  const makeVectors = (dimensions: number) => createVectors(kernels.vectors, dimensions);
  const chunks = createChunkTable(vectors === 'stored' ? makeVectors : null);
  const positions = createSlotPositions();
  const shardParts = {
    positions,
    read: chunks.terms.read,
    scratch: createScratch(),
    makeKernel: kernels.postings,
  };
  const partitions = createPartitions<App>({
    createShard: () => createShard(shardParts),
    readersOf: rules.readersOf,
    onDirty,
  });
  const changes = { count: 0 };
  const store = createDocumentTable<App>({ chunks, partitions }, (slot) => {
    changes.count += 1;
    masks.noteDocument(slot);
  });
  const { documents } = store;
  const tables = {
    documents,
    readableBy: (principal: App['principal']) => documentsOf(partitions.readableBy(principal)),
  };
  const masks = createMasks(() => tables, rules);
  const compare: CompareSlots = (a, b) => compareChunks({ chunks, documents }, a, b);
  return { chunks, documents, store, partitions, positions, masks, compare, changes };
}

function documentsOf(readable: readonly ReadablePartition[]): Int32Array {
  const slots = new Int32Array(readable.reduce((sum, { partition }) => sum + partition.documents.size, 0));
  let size = 0;
  for (const { partition } of readable) {
    for (const slot of partition.documents) {
      slots[size] = slot;
      size += 1;
    }
  }
  return slots;
}

/** Orders chunks, given by their slots, by document id and then by chunk number. */
function compareChunks(
  { chunks, documents }: Pick<Tables<AppTypes>, 'chunks' | 'documents'>,
  a: number,
  b: number,
): number {
  const { links } = chunks;
  const byTie = chunks.tieOf(a) - chunks.tieOf(b);
  if (byTie !== 0) return byTie;
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

/** Calls `measure` with the slot of each chunk, in their order; NaN for a chunk that no document serves. */
function ofEach(
  { chunks, store }: { readonly chunks: ChunkTable; readonly store: Pick<DocumentTable<AppTypes>, 'get'> },
  addresses: readonly ChunkAddress[],
  measure: (slot: number) => number,
): Float64Array<ArrayBuffer> {
  /** The slots of a document's chunks, by its generation. */
  const known = new Map<string, readonly number[]>();
  return Float64Array.from(addresses, ({ generation, documentId, number }) => {
    let slots = known.get(generation);
    if (!slots) {
      const document = store.get(documentId);
      const isServed = document?.attempt != null && documentId + document.attempt === generation;
      slots = isServed ? chunks.slotsFrom(document.firstChunk) : [];
      known.set(generation, slots);
    }
    const slot = slots.at(number);
    return slot === undefined ? Number.NaN : measure(slot);
  });
}

/** The compiled code: kernels that scan vectors, and kernels that add up scores from postings. */
export interface Kernels {
  readonly vectors: MakeKernel;
  readonly postings: MakePostingsKernel;
}

export async function loadKernels(): Promise<Kernels> {
  const [vectors, postings] = await Promise.all([loadKernel(), loadPostingsKernel()]);
  return { vectors, postings };
}
