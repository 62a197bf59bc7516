import { createAccessClasses, type AccessClasses, type Partition, type Partitions } from './partitions.js';
import type { AppTypes, Sort } from './app.js';
import type { ChunkTable } from './chunk-table.js';
import type { DocumentEntry, IndexedDocument, LoadedChunks } from './document.js';
import { createListingOrders, type ListingOrders } from './listing-order.js';

/** The documents by slot, and in the order in which lists show them. */
export interface DocumentTable<App extends AppTypes> {
  /** Indexed by document slot. */
  readonly documents: readonly (IndexedDocument<App> | undefined)[];
  get(documentId: string): IndexedDocument<App> | undefined;
  /** Makes the document answer with these chunks; `kept` leaves it the chunks that it has, null leaves it none. */
  put(entry: DocumentEntry<App>, content: LoadedChunks | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** Document slots in an order of lists. */
  listed(sort: Sort<App['fields']>): readonly number[];
}

interface State<App extends AppTypes> {
  readonly chunks: ChunkTable;
  readonly documents: (IndexedDocument<App> | undefined)[];
  /** Document slots by document id. */
  readonly slots: Map<string, number>;
  readonly freed: number[];
  readonly classes: AccessClasses<App>;
  readonly partitions: Partitions<App>;
  readonly orders: ListingOrders<App['fields']>;
}

export function createDocumentTable<App extends AppTypes>(
  { chunks, partitions }: Pick<State<App>, 'chunks' | 'partitions'>,
  onChange: (slot: number) => void,
): DocumentTable<App> {
  const documents: (IndexedDocument<App> | undefined)[] = [];
  const slots = new Map<string, number>();
  const orders = createListingOrders(documents, () => [...slots.values()]);
  const classes = createAccessClasses<App>();
  const state: State<App> = { chunks, documents, slots, freed: [], classes, partitions, orders };
  return {
    documents,
    get: (documentId) => get(state, documentId),
    put: (entry, content) => onChange(put(state, entry, content)),
    remove: (documentId) => {
      const slot = remove(state, documentId);
      if (slot !== null) onChange(slot);
    },
    clear: () => clear(state),
    listed: (sort) => orders.read(sort),
  };
}

function get<App extends AppTypes>(
  { documents, slots }: State<App>,
  documentId: string,
): IndexedDocument<App> | undefined {
  const slot = slots.get(documentId);
  return slot === undefined ? undefined : documents[slot];
}

/** @returns the slot of the document */
function put<App extends AppTypes>(
  state: State<App>,
  entry: DocumentEntry<App>,
  content: LoadedChunks | 'kept' | null,
): number {
  const { documents, slots, freed, classes, partitions, orders } = state;
  const before = get(state, entry.id) ?? null;
  const slot = before?.slot ?? freed.pop() ?? documents.length;
  const accessClass = classes.acquire(entry.accessKey, entry.access);
  const partition = partitions.enter(entry.statisticsOwner, accessClass, slot);
  const place = { slot, accessClass, partition };
  const published =
    content === 'kept' ? keepChunks(state, before, place) : replaceChunks(state, { before, content, place });
  if (before) {
    partitions.leave(before.partition, before.accessClass, before.partition === partition ? null : slot);
    classes.release(before.accessClass);
    orders.change(slot);
  } else {
    slots.set(entry.id, slot);
    orders.add(slot);
  }
  documents[slot] = indexed(entry, { ...place, ...published });
  return slot;
}

/** The place of a document in the tables. */
type Place<App extends AppTypes> = Pick<IndexedDocument<App>, 'slot' | 'accessClass' | 'partition'>;

/** Leaves a document its chunks, in another partition if it belongs there now. */
function keepChunks<App extends AppTypes>(
  { chunks, partitions }: State<App>,
  before: IndexedDocument<App> | null,
  { partition }: Place<App>,
): Published {
  if (!before) return UNPUBLISHED;
  const { attempt, named, firstChunk } = before;
  if (before.partition !== partition) {
    const slots = chunks.slotsFrom(firstChunk);
    removeFrom(partitions, before.partition, slots);
    addTo(partitions, partition, slots);
  }
  return { attempt, named, firstChunk };
}

function replaceChunks<App extends AppTypes>(
  { chunks, partitions }: State<App>,
  {
    before,
    content,
    place: { slot, partition },
  }: {
    readonly before: IndexedDocument<App> | null;
    readonly content: LoadedChunks | null;
    readonly place: Place<App>;
  },
): Published {
  if (before) {
    const slots = chunks.slotsFrom(before.firstChunk);
    removeFrom(partitions, before.partition, slots);
    chunks.unlink(slots);
  }
  if (!content) return UNPUBLISHED;
  const firstChunk = chunks.link(content.slots, slot);
  addTo(partitions, partition, content.slots);
  return { attempt: content.attempt, named: content.named, firstChunk };
}

type Touched = Pick<Partitions<AppTypes>, 'touch'>;

function addTo(partitions: Touched, partition: Partition, slots: readonly number[]): void {
  if (slots.length === 0) return;
  partition.shard.add(slots);
  partitions.touch(partition);
}

/** The terms of the chunks must still be there. */
function removeFrom(partitions: Touched, partition: Partition, slots: readonly number[]): void {
  if (slots.length === 0) return;
  partition.shard.remove(slots);
  partitions.touch(partition);
}

/** @returns the slot that the document had; null when it was not there */
function remove<App extends AppTypes>(state: State<App>, documentId: string): number | null {
  const { documents, slots, freed, orders } = state;
  const document = get(state, documentId);
  if (!document) return null;
  drop(state, document);
  documents[document.slot] = undefined;
  slots.delete(documentId);
  freed.push(document.slot);
  orders.remove(document.slot);
  return document.slot;
}

function clear<App extends AppTypes>(state: State<App>): void {
  const { documents, slots, freed, orders } = state;
  for (const document of documents) if (document) drop(state, document);
  documents.length = 0;
  slots.clear();
  freed.length = 0;
  orders.clear();
}

function drop<App extends AppTypes>(
  { chunks, classes, partitions }: State<App>,
  document: IndexedDocument<App>,
): void {
  const { slot, firstChunk, accessClass, partition } = document;
  const slots = chunks.slotsFrom(firstChunk);
  removeFrom(partitions, partition, slots);
  chunks.unlink(slots);
  partitions.leave(partition, accessClass, slot);
  classes.release(accessClass);
}

type Published = Pick<IndexedDocument, 'attempt' | 'named' | 'firstChunk'>;
const UNPUBLISHED: Published = { attempt: null, named: null, firstChunk: -1 };

/** Every property is written out, so that all documents have one hidden class. */
function indexed<App extends AppTypes>(
  { id, fields }: DocumentEntry<App>,
  { slot, accessClass, partition, attempt, named, firstChunk }: Published & Place<App>,
): IndexedDocument<App> {
  return { id, slot, accessClass, partition, attempt, named, firstChunk, fields };
}
