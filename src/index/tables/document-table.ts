import type { AppTypes, Sort } from './app.js';
import type { ChunkTable } from './chunk-table.js';
import { createListingOrders, type ListingOrders } from './listing-order.js';
import {
  createAccessClasses,
  type AccessClasses,
  type Partition,
  type Partitions,
  type AccessClass,
} from './partitions.js';

/** The documents by slot, and in the order in which lists show them. */
export interface DocumentTable<App extends AppTypes> {
  /** Indexed by document slot. */
  readonly documents: readonly (IndexedDocument<App> | undefined)[];
  ids(): Iterable<string>;
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
    ids: () => slots.keys(),
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

/** The properties of a document that the index is told. */
export interface DocumentEntry<App extends AppTypes> {
  readonly id: string;
  readonly fields: App['fields'];
  readonly access: App['access'];
  /** Equal for equal access, and short. */
  readonly accessKey: string;
  /** The owner whose term statistics count the document; null when its owner may not read it. */
  readonly statisticsOwner: string | null;
}

/**
 * A document as the index holds it, replaced whole when its record changes. It shares its access with other documents that
 * have the same, because there may be a hundred thousand documents.
 */
export interface IndexedDocument<App extends AppTypes = AppTypes> {
  readonly id: string;
  /** The number of the document within the index. It is used again after the document is gone. */
  readonly slot: number;
  readonly accessClass: AccessClass<App>;
  readonly partition: Partition;
  /** The part of the published generation's id after the document's id; null when nothing is published. */
  readonly attempt: string | null;
  /** The name of its file that its chunks are found by; see `LoadedChunks`. */
  readonly named: string | null | undefined;
  /** The slot of its first chunk, from which the chunk table leads to the others; -1 when it has none. */
  readonly firstChunk: number;
  readonly fields: App['fields'];
}

/** Chunks of a generation that were loaded and belong to no document of the index yet. */
export interface LoadedChunks {
  readonly attempt: string;
  /**
   * The name of the file whose terms they hold, null for none; undefined while the document is being renamed, or otherwise
   * changed, when they may hold either.
   */
  readonly named?: string | null | undefined;
  /** Orders the chunks among others of the same score, see `tieKey`. */
  readonly tie: number;
  /** Their slots, in the order of the chunks. */
  readonly slots: number[];
}

export function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const DIGITS = Array.from('-0123456789abcdef');
const LENGTH = 12;

/**
 * Makes a number of an id that orders ids as strings are ordered, or leaves them equal. It reads the first characters of a
 * UUID as digits of base 17, which a double holds exactly. From the first character on that is no such digit, all digits
 * are the lowest or the highest.
 */
export function tieKey(id: string): number {
  let key = 0;
  let rest = 0;
  let isPrefix = true;
  for (let i = 0; i < LENGTH; i += 1) {
    if (isPrefix) {
      const character = id.charAt(i);
      const digit = character === '' ? -1 : DIGITS.indexOf(character);
      if (digit >= 0) {
        key = key * DIGITS.length + digit;
        continue;
      }
      isPrefix = false;
      const below = DIGITS.filter((each) => each < character).length;
      rest = below === 0 ? 0 : DIGITS.length - 1;
      key = key * DIGITS.length + Math.max(below - 1, 0);
      continue;
    }
    key = key * DIGITS.length + rest;
  }
  return key;
}
