import { createAccessClasses } from './access-classes.js';
import type { ChunkTable } from './chunk-table.js';
import { createListingOrder } from './listing-order.js';
import type { ParsedRecord } from './record-fields.js';
import { compareIds, type MirroredContent, type MirroredDocument } from './mirrored.js';

/** Documents by slot, and in the order of lists. */
export interface DocumentTable {
  /** By document slot. */
  readonly documents: readonly (MirroredDocument | undefined)[];
  get(documentId: string): MirroredDocument | undefined;
  /** `kept` leaves the chunks as they are, null takes them away. */
  put(record: ParsedRecord, content: MirroredContent | 'kept' | null): void;
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
  const order = createListingOrder((a, b) => compareForListing(documents[a], documents[b]));

  const get = (documentId: string) => {
    const slot = slots.get(documentId);
    return slot === undefined ? undefined : documents[slot];
  };
  const drop = ({ content, access }: MirroredDocument) => {
    if (content) chunks.unlink(content);
    classes.release(access);
  };

  return {
    documents,
    get,
    put: ({ document, accessKey }, given) => {
      const before = get(document.id);
      const slot = before?.slot ?? freed.pop() ?? documents.length;
      const content = given === 'kept' ? (before?.content ?? null) : given;
      if (before?.content && before.content !== content) chunks.unlink(before.content);
      if (content && before?.content !== content) chunks.link(content, slot);
      const access = classes.acquire(accessKey, document);
      if (before) classes.release(before.access);
      // The lists of its class in the place of its own: most documents share them.
      const record = { ...document, ...access.lists };
      documents[slot] = { slot, access, content, record, createdAtMs: Date.parse(record.createdAt) };
      slots.set(record.id, slot);
      if (!before) order.add(slot);
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

function compareForListing(a: MirroredDocument | undefined, b: MirroredDocument | undefined): number {
  if (!a || !b) return 0;
  return (
    b.createdAtMs - a.createdAtMs ||
    compareIds(b.record.createdAt, a.record.createdAt) ||
    compareIds(a.record.id, b.record.id)
  );
}
