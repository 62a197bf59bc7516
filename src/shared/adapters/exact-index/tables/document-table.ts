import type { LoadedChunks, MirroredDocument } from '../mirror/mirrored.js';
import type { ParsedRecord } from '../mirror/record-parser.js';
import { createAccessClasses, type AccessClasses } from './access-classes.js';
import type { ChunkTable } from './chunk-table.js';
import { createListingOrder } from './listing-order.js';
import type { SortedSlots } from './sorted-slots.js';

/** The documents by slot, and in the order in which lists show them. */
export interface DocumentTable {
  /** Indexed by document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  get(documentId: string): MirroredDocument | undefined;
  /** Makes the document answer with these chunks; `kept` leaves it the chunks that it has, null leaves it none. */
  put(record: ParsedRecord, content: LoadedChunks | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** Document slots, newest document first, ties by id. */
  listed(): readonly number[];
}

interface State {
  readonly chunks: ChunkTable;
  readonly documents: (MirroredDocument | undefined)[];
  /** Document slots by document id. */
  readonly slots: Map<string, number>;
  readonly freed: number[];
  readonly classes: AccessClasses;
  /** Document slots as lists show them. */
  readonly order: SortedSlots;
}

export function createDocumentTable(chunks: ChunkTable, onChange: (slot: number) => void): DocumentTable {
  const documents: (MirroredDocument | undefined)[] = [];
  const slots = new Map<string, number>();
  const order = createListingOrder(documents, () => [...slots.values()]);
  const state: State = { chunks, documents, slots, freed: [], classes: createAccessClasses(), order };
  return {
    documents,
    get: (documentId) => get(state, documentId),
    put: (record, content) => onChange(put(state, record, content)),
    remove: (documentId) => {
      const slot = remove(state, documentId);
      if (slot !== null) onChange(slot);
    },
    clear: () => clear(state),
    listed: () => order.read(),
  };
}

function get({ documents, slots }: State, documentId: string): MirroredDocument | undefined {
  const slot = slots.get(documentId);
  return slot === undefined ? undefined : documents[slot];
}

/** @returns the slot of the document */
function put(
  state: State,
  { document, accessKey }: ParsedRecord,
  content: LoadedChunks | 'kept' | null,
): number {
  const { chunks, documents, slots, freed, classes, order } = state;
  const before = get(state, document.id) ?? null;
  const slot = before?.slot ?? freed.pop() ?? documents.length;
  const access = classes.acquire(accessKey, document);
  if (before && content !== 'kept') chunks.unlink(before.firstChunk);
  if (before) classes.release(before.access);
  const published = content === 'kept' ? publishedOf(before) : linkLoaded(content, chunks, slot);
  documents[slot] = mirrored(document, { slot, access, ...published });
  if (!before) {
    slots.set(document.id, slot);
    order.add(slot);
  }
  return slot;
}

/** @returns the slot that the document had; null when it was not there */
function remove(state: State, documentId: string): number | null {
  const { documents, slots, freed, order } = state;
  const document = get(state, documentId);
  if (!document) return null;
  drop(state, document);
  documents[document.slot] = undefined;
  slots.delete(documentId);
  freed.push(document.slot);
  order.remove(document.slot);
  return document.slot;
}

function clear(state: State): void {
  const { documents, slots, freed, order } = state;
  for (const document of documents) if (document) drop(state, document);
  documents.length = 0;
  slots.clear();
  freed.length = 0;
  order.clear();
}

function drop({ chunks, classes }: State, { firstChunk, access }: MirroredDocument): void {
  chunks.unlink(firstChunk);
  classes.release(access);
}

type Published = Pick<MirroredDocument, 'attempt' | 'firstChunk'>;
const UNPUBLISHED: Published = { attempt: null, firstChunk: -1 };

function publishedOf(document: MirroredDocument | null): Published {
  return document ? { attempt: document.attempt, firstChunk: document.firstChunk } : UNPUBLISHED;
}

function linkLoaded(loaded: LoadedChunks | null, chunks: ChunkTable, slot: number): Published {
  return loaded ? { attempt: loaded.attempt, firstChunk: chunks.link(loaded.slots, slot) } : UNPUBLISHED;
}

/**
 * Every property is written out, so that all documents have one hidden class, and
 * their lists are those of their access class.
 */
function mirrored(
  document: ParsedRecord['document'],
  { slot, access, attempt, firstChunk }: Published & Pick<MirroredDocument, 'slot' | 'access'>,
): MirroredDocument {
  return {
    slot,
    access,
    attempt,
    firstChunk,
    id: document.id,
    createdAt: document.createdAt,
    readers: access.lists.readers,
    writers: access.lists.writers,
    admins: access.lists.admins,
    metadata: document.metadata,
    published: document.published,
    pending: document.pending,
  };
}
