import { canRead } from '../../access.js';
import { compileFilter, type DocumentPredicate } from '../../filter-match.js';
import type { Filter } from '../../filters.js';
import type { ChunkTable } from './chunk-table.js';
import type { MirroredDocument } from './mirrored.js';

const MASKS_KEPT = 64;
/** Changes remembered for masks to catch up with; past that, computing them anew is as cheap. */
const CHANGES_KEPT = 10_000;

/** Which documents, and which of their vectors, a caller may read and a filter takes. */
export interface Mask {
  /** One byte per document slot. */
  readonly documents: Uint8Array;
  /** One byte per vector slot, by segment. */
  readonly vectors: readonly Uint8Array[];
  /** Documents it takes. */
  readonly count: number;
}

/** The tables that masks are computed from, by slot. */
export interface Tables {
  readonly documents: readonly (MirroredDocument | undefined)[];
  readonly chunks: Pick<ChunkTable, 'size' | 'documentOf' | 'after'>;
  readonly segmentSize: number;
}

interface WorkingMask {
  readonly callerId: string;
  readonly fits: DocumentPredicate;
  documents: Uint8Array;
  vectors: Uint8Array[];
  count: number;
  /** Changes taken in so far. */
  seen: number;
}

/** Masks of recent callers and filters, brought up to date when they are used. */
export interface Masks {
  get(callerId: string, filter: Filter | null): Mask;
  /** To be told of every document slot and every vector slot whose content changed. */
  noteDocument(slot: number): void;
  noteVector(slot: number): void;
  clear(): void;
}

export function createMasks(tables: () => Tables): Masks {
  const masks = new Map<string, WorkingMask>();
  let changes: { readonly kind: 'document' | 'vector'; readonly slot: number }[] = [];

  const clear = () => {
    masks.clear();
    changes = [];
  };
  const note = (kind: 'document' | 'vector', slot: number) => {
    if (masks.size === 0) return;
    changes.push({ kind, slot });
    if (changes.length > CHANGES_KEPT) clear();
  };

  const make = (callerId: string, filter: Filter | null): WorkingMask => {
    const fits = filter ? compileFilter(filter) : () => true;
    const mask = {
      callerId,
      fits,
      documents: new Uint8Array(0),
      vectors: [],
      count: 0,
      seen: changes.length,
    };
    fill(mask, tables());
    return mask;
  };

  return {
    get: (callerId, filter) => {
      const key = JSON.stringify([callerId, filter]);
      const mask = masks.get(key) ?? make(callerId, filter);
      // A map keeps the order of insertion: the first is the one not used for longest.
      masks.delete(key);
      masks.set(key, mask);
      for (const oldest of masks.keys()) {
        if (masks.size <= MASKS_KEPT) break;
        masks.delete(oldest);
      }
      catchUp(mask, changes, tables());
      return mask;
    },
    noteDocument: (slot) => {
      note('document', slot);
    },
    noteVector: (slot) => {
      note('vector', slot);
    },
    clear,
  };
}

function fill(mask: WorkingMask, tables: Tables): void {
  const readable = new Map<number, boolean>();
  resize(mask, tables);
  for (const [slot, document] of tables.documents.entries()) {
    if (!document) continue;
    const { id, lists } = document.access;
    let isReadable = readable.get(id);
    if (isReadable === undefined) {
      isReadable = canRead(mask.callerId, lists);
      readable.set(id, isReadable);
    }
    if (!isReadable || !mask.fits(document)) continue;
    mask.documents[slot] = 1;
    mask.count += 1;
  }
  for (let slot = 0; slot < tables.chunks.size; slot += 1) setVector(mask, tables, slot);
}

function catchUp(
  mask: WorkingMask,
  changes: readonly { kind: string; slot: number }[],
  tables: Tables,
): void {
  resize(mask, tables);
  for (const { kind, slot } of changes.slice(mask.seen)) {
    if (kind === 'document') setDocument(mask, tables, slot);
    else setVector(mask, tables, slot);
  }
  mask.seen = changes.length;
}

function setDocument(mask: WorkingMask, tables: Tables, slot: number): void {
  const document = tables.documents[slot];
  const isTaken =
    document !== undefined && canRead(mask.callerId, document.access.lists) && mask.fits(document);
  mask.count += Number(isTaken) - (mask.documents[slot] ?? 0);
  mask.documents[slot] = Number(isTaken);
  const { chunks } = tables;
  for (let chunk = document?.firstChunk ?? -1; chunk >= 0; chunk = chunks.after(chunk))
    setVector(mask, tables, chunk);
}

function setVector(mask: WorkingMask, { chunks, segmentSize }: Tables, slot: number): void {
  const segment = mask.vectors[Math.floor(slot / segmentSize)];
  // No document has the slot -1.
  if (segment) segment[slot % segmentSize] = mask.documents[chunks.documentOf(slot)] ?? 0;
}

function resize(mask: WorkingMask, { documents, chunks, segmentSize }: Tables): void {
  if (documents.length > mask.documents.length) {
    const larger = new Uint8Array(Math.max(1024, documents.length * 1.5));
    larger.set(mask.documents);
    mask.documents = larger;
  }
  while (mask.vectors.length * segmentSize < chunks.size) mask.vectors.push(new Uint8Array(segmentSize));
}
