import { canRead } from '../../access.js';
import { compileFilter, type DocumentPredicate } from '../../filter-match.js';
import type { Filter } from '../../filters.js';
import type { ChunkTable } from './chunk-table.js';
import { bytesOfFilter } from './filter-bytes.js';
import type { MirroredDocument } from './mirrored.js';

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

export interface TableChange {
  readonly kind: 'document' | 'vector';
  readonly slot: number;
}

/** A mask that is being computed, or brought up to date: every step may be taken again. */
export interface WorkingMask extends Mask {
  /** What it holds of the heap, its filter included; rather too much than too little. */
  readonly bytes: number;
  /** Changes taken in so far, and documents and vectors looked at before them. */
  readonly seen: number;
  /** Takes up to `steps` steps; answers how many of them were left when all was done, so 0 means: there may be more. */
  advance(tables: Tables, changes: readonly TableChange[], steps: number): number;
}

/** Of an entry and its small parts. */
const OVERHEAD = 4_096;
/** Vectors whose bytes are copied in one step. */
const VECTORS_A_STEP = 64;
/** Conditions that a document is held against in one step. */
const CONDITIONS_A_STEP = 2;

export function createWorkingMask(callerId: string, filter: Filter | null, seenSoFar: number): WorkingMask {
  const fits: DocumentPredicate = filter ? compileFilter(filter) : () => true;
  const filterBytes = filter ? bytesOfFilter(filter) : 0;
  const stepsOfDocument = 1 + (filter ? conditionsOf(filter) : 0) / CONDITIONS_A_STEP;
  /** By the number of the access class: documents with the same lists are decided once. */
  const readable = new Map<number, boolean>();
  const vectors: Uint8Array[] = [];
  let documents = new Uint8Array(0);
  let [count, seen, nextDocument, nextVector] = [0, seenSoFar, 0, 0];
  let segmentBytes = 0;

  const resize = (tables: Tables) => {
    if (tables.documents.length > documents.length) {
      const larger = new Uint8Array(Math.max(1024, tables.documents.length * 1.5));
      larger.set(documents);
      documents = larger;
    }
    segmentBytes = tables.segmentSize;
    while (vectors.length * segmentBytes < tables.chunks.size) vectors.push(new Uint8Array(segmentBytes));
  };

  const isReadable = ({ access: { id, lists } }: MirroredDocument): boolean => {
    const known = readable.get(id);
    if (known !== undefined) return known;
    const answer = canRead(callerId, lists);
    readable.set(id, answer);
    return answer;
  };

  const set = (slot: number, isTaken: boolean) => {
    count += Number(isTaken) - (documents[slot] ?? 0);
    documents[slot] = Number(isTaken);
  };
  const setVector = ({ chunks, segmentSize }: Tables, slot: number) => {
    const segment = vectors[Math.floor(slot / segmentSize)];
    // No document has the slot -1.
    if (segment) segment[slot % segmentSize] = documents[chunks.documentOf(slot)] ?? 0;
  };

  /** @returns the steps that it took */
  const apply = (tables: Tables, { kind, slot }: TableChange): number => {
    if (kind === 'vector') {
      setVector(tables, slot);
      return 1;
    }
    const document = tables.documents[slot];
    set(slot, document !== undefined && canRead(callerId, document.access.lists) && fits(document));
    const { chunks } = tables;
    let steps = stepsOfDocument;
    for (let chunk = document?.firstChunk ?? -1; chunk >= 0; chunk = chunks.after(chunk)) {
      setVector(tables, chunk);
      steps += 1 / VECTORS_A_STEP;
    }
    return steps;
  };

  return {
    get documents() {
      return documents;
    },
    vectors,
    get count() {
      return count;
    },
    get seen() {
      return seen;
    },
    get bytes() {
      return OVERHEAD + filterBytes + documents.length + vectors.length * segmentBytes + readable.size * 40;
    },
    advance: (tables, changes, steps) => {
      resize(tables);
      let left = steps;
      for (; left > 0 && nextDocument < tables.documents.length; nextDocument += 1) {
        const document = tables.documents[nextDocument];
        set(nextDocument, document !== undefined && isReadable(document) && fits(document));
        left -= stepsOfDocument;
      }
      // Later changes are few: they decide it each for itself.
      if (nextDocument >= tables.documents.length) readable.clear();
      for (; left > 0 && nextVector < tables.chunks.size; left -= 1) {
        const end = Math.min(nextVector + VECTORS_A_STEP, tables.chunks.size);
        for (; nextVector < end; nextVector += 1) setVector(tables, nextVector);
      }
      for (let change = changes[seen]; left > 0 && change; change = changes[seen]) {
        left -= apply(tables, change);
        seen += 1;
      }
      return Math.max(0, left);
    },
  };
}

function conditionsOf(filter: Filter): number {
  if (filter.type === 'not') return conditionsOf(filter.filter);
  if (filter.type !== 'and' && filter.type !== 'or') return 1;
  return filter.filters.reduce((sum, part) => sum + conditionsOf(part), 0);
}
