import { at } from '../../../at.js';
import { compareIds, type Draft, type MirroredDocument } from '../mirror/mirrored.js';
import type { ParsedRecord } from '../mirror/record-fields.js';
import { createAccessClasses } from './access-classes.js';
import type { ChunkTable } from './chunk-table.js';
import { createListingOrder } from './listing-order.js';

/** Documents by slot, and in the order of lists. */
export interface DocumentTable {
  /** By document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  get(documentId: string): MirroredDocument | undefined;
  /** Makes a draft what the document answers with; `kept` leaves its chunks as they are, null takes them away. */
  put(record: ParsedRecord, content: Draft | 'kept' | null): void;
  remove(documentId: string): void;
  clear(): void;
  /** Slots, newest document first, ties by id. */
  listed(): readonly number[];
}

export function createDocumentTable(chunks: ChunkTable, onChange: (slot: number) => void): DocumentTable {
  const documents: (MirroredDocument | undefined)[] = [];
  const slots = new Map<string, number>();
  const freed: number[] = [];
  const classes = createAccessClasses();
  const order = createListingOrder(
    (a, b) => compareForListing(at(documents, a), at(documents, b)),
    () => [...slots.values()],
  );

  const get = (documentId: string) => {
    const slot = slots.get(documentId);
    return slot === undefined ? undefined : documents[slot];
  };
  const drop = ({ firstChunk, access }: MirroredDocument) => {
    chunks.unlink(firstChunk);
    classes.release(access);
  };

  return {
    documents,
    get,
    put: ({ document, accessKey }, content) => {
      const before = get(document.id) ?? null;
      const slot = before?.slot ?? freed.pop() ?? documents.length;
      const access = classes.acquire(accessKey, document);
      if (before && content !== 'kept') chunks.unlink(before.firstChunk);
      if (before) classes.release(before.access);
      const published = content === 'kept' ? publishedOf(before) : linkDraft(content, chunks, slot);
      documents[slot] = mirrored(document, { slot, access, ...published });
      if (!before) {
        slots.set(document.id, slot);
        order.add(slot);
      }
      onChange(slot);
    },
    remove: (documentId) => {
      const document = get(documentId);
      if (!document) return;
      drop(document);
      documents[document.slot] = undefined;
      slots.delete(documentId);
      freed.push(document.slot);
      order.remove(document.slot);
      onChange(document.slot);
    },
    clear: () => {
      for (const document of documents) if (document) drop(document);
      documents.length = 0;
      slots.clear();
      freed.length = 0;
      order.clear();
    },
    listed: () => order.read(),
  };
}

type Published = Pick<MirroredDocument, 'attempt' | 'firstChunk'>;
const UNPUBLISHED: Published = { attempt: null, firstChunk: -1 };

function publishedOf(document: MirroredDocument | null): Published {
  return document ? { attempt: document.attempt, firstChunk: document.firstChunk } : UNPUBLISHED;
}

function linkDraft(draft: Draft | null, chunks: ChunkTable, slot: number): Published {
  return draft ? { attempt: draft.attempt, firstChunk: chunks.link(draft.vectors, slot) } : UNPUBLISHED;
}

/** Written out property by property, so that all documents have one shape and their lists are those of their class. */
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

function compareForListing(a: MirroredDocument, b: MirroredDocument): number {
  return compareTimes(b.createdAt, a.createdAt) || compareIds(a.id, b.id);
}

/** As `toISOString` writes them, times are ordered as their texts are. */
const USUAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function compareTimes(a: string, b: string): number {
  const areUsual = USUAL_TIME.test(a) && USUAL_TIME.test(b);
  return (areUsual ? 0 : Date.parse(a) - Date.parse(b)) || compareIds(a, b);
}
