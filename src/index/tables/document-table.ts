import type { ListOrder } from '../../shared/documents/list-order.js';
import type { LoadedChunks, MirroredDocument } from './document.js';
import type { ParsedRecord } from '../../shared/adapters/exact-index/mirror/record-parser.js';
import { createAccessClasses, type AccessClasses } from './access-classes.js';
import type { ChunkTable } from './chunk-table.js';
import { createListingOrders, type ListingOrders } from './listing-order.js';
import type { Partition, Partitions } from './partitions.js';

/** The documents by slot, and in the order in which lists show them. */
export interface DocumentTable {
  /** Indexed by document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  get(documentId: string): MirroredDocument | undefined;
  /** Makes the document answer with these chunks; `kept` leaves it the chunks that it has, null leaves it none. */
  put(record: ParsedRecord, content: LoadedChunks | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** Document slots in an order of lists. */
  listed(order: ListOrder): readonly number[];
}

interface State {
  readonly chunks: ChunkTable;
  readonly documents: (MirroredDocument | undefined)[];
  /** Document slots by document id. */
  readonly slots: Map<string, number>;
  readonly freed: number[];
  readonly classes: AccessClasses;
  readonly partitions: Partitions;
  readonly orders: ListingOrders;
}

export function createDocumentTable(
  { chunks, partitions }: Pick<State, 'chunks' | 'partitions'>,
  onChange: (slot: number) => void,
): DocumentTable {
  const documents: (MirroredDocument | undefined)[] = [];
  const slots = new Map<string, number>();
  const orders = createListingOrders(documents, () => [...slots.values()]);
  const classes = createAccessClasses();
  const state: State = { chunks, documents, slots, freed: [], classes, partitions, orders };
  return {
    documents,
    get: (documentId) => get(state, documentId),
    put: (record, content) => onChange(put(state, record, content)),
    remove: (documentId) => {
      const slot = remove(state, documentId);
      if (slot !== null) onChange(slot);
    },
    clear: () => clear(state),
    listed: (order) => orders.read(order),
  };
}

function get({ documents, slots }: State, documentId: string): MirroredDocument | undefined {
  const slot = slots.get(documentId);
  return slot === undefined ? undefined : documents[slot];
}

/** @returns the slot of the document */
function put(
  state: State,
  { document, accessKey, statisticsOwner }: ParsedRecord,
  content: LoadedChunks | 'kept' | null,
): number {
  const { documents, slots, freed, classes, partitions, orders } = state;
  const before = get(state, document.id) ?? null;
  const slot = before?.slot ?? freed.pop() ?? documents.length;
  const access = classes.acquire(accessKey, document);
  const partition = partitions.enter(statisticsOwner, access, slot);
  const place = { slot, access, partition };
  const published =
    content === 'kept' ? keepChunks(state, before, place) : replaceChunks(state, { before, content, place });
  if (before) {
    partitions.leave(before.partition, before.access, before.partition === partition ? null : slot);
    classes.release(before.access);
    orders.change(slot);
  } else {
    slots.set(document.id, slot);
    orders.add(slot);
  }
  documents[slot] = mirrored(document, { ...place, ...published });
  return slot;
}

/** Where a document belongs. */
type Place = Pick<MirroredDocument, 'slot' | 'access' | 'partition'>;

/** Leaves a document its chunks, in another partition if it belongs there now. */
function keepChunks(
  { chunks, partitions }: State,
  before: MirroredDocument | null,
  { partition }: Place,
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

function replaceChunks(
  { chunks, partitions }: State,
  {
    before,
    content,
    place: { slot, partition },
  }: {
    readonly before: MirroredDocument | null;
    readonly content: LoadedChunks | null;
    readonly place: Place;
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

function addTo(partitions: Partitions, partition: Partition, slots: readonly number[]): void {
  if (slots.length === 0) return;
  partition.shard.add(slots);
  partitions.touch(partition);
}

/** The terms of the chunks must still be there. */
function removeFrom(partitions: Partitions, partition: Partition, slots: readonly number[]): void {
  if (slots.length === 0) return;
  partition.shard.remove(slots);
  partitions.touch(partition);
}

/** @returns the slot that the document had; null when it was not there */
function remove(state: State, documentId: string): number | null {
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

function clear(state: State): void {
  const { documents, slots, freed, orders } = state;
  for (const document of documents) if (document) drop(state, document);
  documents.length = 0;
  slots.clear();
  freed.length = 0;
  orders.clear();
}

function drop({ chunks, classes, partitions }: State, document: MirroredDocument): void {
  const { slot, firstChunk, access, partition } = document;
  const slots = chunks.slotsFrom(firstChunk);
  removeFrom(partitions, partition, slots);
  chunks.unlink(slots);
  partitions.leave(partition, access, slot);
  classes.release(access);
}

type Published = Pick<MirroredDocument, 'attempt' | 'named' | 'firstChunk'>;
const UNPUBLISHED: Published = { attempt: null, named: null, firstChunk: -1 };

/**
 * Every property is written out, so that all documents have one hidden class, and
 * their lists are those of their access class.
 */
function mirrored(
  document: ParsedRecord['document'],
  { slot, access, partition, attempt, named, firstChunk }: Published & Place,
): MirroredDocument {
  return {
    slot,
    access,
    partition,
    attempt,
    named,
    firstChunk,
    id: document.id,
    ownerId: document.ownerId,
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
    readers: access.lists.readers,
    writers: access.lists.writers,
    admins: access.lists.admins,
    metadata: document.metadata,
    published: document.published,
    pending: document.pending,
  };
}
