import { canRead } from '../../../access/access.js';
import { compileFilter, type DocumentPredicate } from '../../../filters/match.js';
import type { Filter } from '../../../filters/parse.js';
import type { AccessClass, MirroredDocument } from '../mirror/mirrored.js';
import type { ChunkLinks } from '../tables/chunk-links.js';
import { bytesOfFilter } from './filter-bytes.js';

/** The documents, and their vectors, that a caller may read and a filter matches. */
export interface Mask {
  /** One byte per document slot, 1 where the document is in the mask. */
  readonly documents: Uint8Array;
  /** One byte per vector slot, by segment. */
  readonly vectors: readonly Uint8Array[];
  /** How many documents are in the mask. */
  readonly count: number;
}

/** The tables that masks are computed from, by slot. */
export interface Tables {
  readonly documents: readonly (MirroredDocument | undefined)[];
  readonly chunks: Pick<ChunkLinks, 'size' | 'documentOf' | 'after'>;
  readonly segmentSize: number;
}

export interface TableChange {
  readonly kind: 'document' | 'vector';
  readonly slot: number;
}

/** A mask that is being computed or brought up to date. Repeating a step does no harm. */
export interface WorkingMask extends Mask {
  /** Estimate of the heap that it takes with its filter, rather too high than too low. */
  readonly bytes: number;
  /** The number of changes that it has taken in. */
  readonly seen: number;
  /** Takes up to `steps` steps. Answers how many were left when all was done, so that 0 means there may be more to do. */
  advance(tables: Tables, changes: readonly TableChange[], steps: number): number;
}

/** Heap of an entry and its small parts, in bytes. */
const OVERHEAD = 4_096;
/** Bytes of a remembered decision about an access class. */
const BYTES_A_CLASS = 40;
/** Vectors whose bytes are copied in one step. */
const VECTORS_A_STEP = 64;
/** Conditions that one step compares a document with. */
const CONDITIONS_A_STEP = 2;

/** How far the computation has come. */
interface Progress {
  documents: Uint8Array;
  readonly vectors: Uint8Array[];
  count: number;
  seen: number;
  nextDocument: number;
  nextVector: number;
  segmentBytes: number;
}

/** Decides which documents are in a mask. */
interface Decision {
  readonly isReadable: (document: MirroredDocument) => boolean;
  readonly fits: DocumentPredicate;
  readonly stepsOfDocument: number;
}

export function createWorkingMask(callerId: string, filter: Filter | null, seenSoFar: number): WorkingMask {
  const filterBytes = filter ? bytesOfFilter(filter) : 0;
  /** Decisions by the number of the access class, so that each list is looked at once. */
  const readable = new Map<number, boolean>();
  const first: Decision = {
    isReadable: ({ access }) => isReadable(callerId, access, readable),
    fits: filter ? compileFilter(filter) : () => true,
    stepsOfDocument: 1 + (filter ? conditionsOf(filter) : 0) / CONDITIONS_A_STEP,
  };
  /** Decides about later changes, which are few, without remembering anything. */
  const later: Decision = { ...first, isReadable: ({ access }) => canRead(callerId, access.lists) };
  const mask = noProgress(seenSoFar);

  return {
    get documents() {
      return mask.documents;
    },
    vectors: mask.vectors,
    get count() {
      return mask.count;
    },
    get seen() {
      return mask.seen;
    },
    get bytes() {
      return OVERHEAD + filterBytes + bytesOf(mask) + readable.size * BYTES_A_CLASS;
    },
    advance: (tables, changes, steps) => {
      resize(mask, tables);
      let left = lookAtDocuments(mask, tables, { decision: first, steps });
      if (mask.nextDocument >= tables.documents.length) readable.clear();
      left = copyToVectors(mask, tables, left);
      return applyChanges(mask, tables, { changes, decision: later, steps: left });
    },
  };
}

function noProgress(seenSoFar: number): Progress {
  return {
    documents: new Uint8Array(0),
    vectors: [],
    count: 0,
    seen: seenSoFar,
    nextDocument: 0,
    nextVector: 0,
    segmentBytes: 0,
  };
}

function bytesOf({ documents, vectors, segmentBytes }: Progress): number {
  return documents.length + vectors.length * segmentBytes;
}

function isReadable(callerId: string, { id, lists }: AccessClass, known: Map<number, boolean>): boolean {
  const decided = known.get(id);
  if (decided !== undefined) return decided;
  const answer = canRead(callerId, lists);
  known.set(id, answer);
  return answer;
}

function resize(mask: Progress, { documents, chunks, segmentSize }: Tables): void {
  if (documents.length > mask.documents.length) {
    const larger = new Uint8Array(Math.max(1024, documents.length * 1.5));
    larger.set(mask.documents);
    mask.documents = larger;
  }
  mask.segmentBytes = segmentSize;
  while (mask.vectors.length * segmentSize < chunks.size) mask.vectors.push(new Uint8Array(segmentSize));
}

/** @returns the steps that are left */
function lookAtDocuments(
  mask: Progress,
  { documents }: Tables,
  { decision, steps }: { readonly decision: Decision; readonly steps: number },
): number {
  let left = steps;
  for (; left > 0 && mask.nextDocument < documents.length; mask.nextDocument += 1) {
    set(mask, mask.nextDocument, takes(decision, documents[mask.nextDocument]));
    left -= decision.stepsOfDocument;
  }
  return left;
}

/** @returns the steps that are left */
function copyToVectors(mask: Progress, tables: Tables, steps: number): number {
  const { size } = tables.chunks;
  let left = steps;
  for (; left > 0 && mask.nextVector < size; left -= 1) {
    const end = Math.min(mask.nextVector + VECTORS_A_STEP, size);
    for (; mask.nextVector < end; mask.nextVector += 1) setVector(mask, tables, mask.nextVector);
  }
  return left;
}

/** @returns the steps that are left */
function applyChanges(
  mask: Progress,
  tables: Tables,
  {
    changes,
    decision,
    steps,
  }: { readonly changes: readonly TableChange[]; readonly decision: Decision; readonly steps: number },
): number {
  let left = steps;
  for (let change = changes[mask.seen]; left > 0 && change; change = changes[mask.seen]) {
    left -= apply(mask, tables, { change, decision });
    mask.seen += 1;
  }
  return Math.max(0, left);
}

/** @returns the steps that it took */
function apply(
  mask: Progress,
  tables: Tables,
  { change: { kind, slot }, decision }: { readonly change: TableChange; readonly decision: Decision },
): number {
  if (kind === 'vector') {
    setVector(mask, tables, slot);
    return 1;
  }
  const document = tables.documents[slot];
  set(mask, slot, takes(decision, document));
  let steps = decision.stepsOfDocument;
  for (let chunk = document?.firstChunk ?? -1; chunk >= 0; chunk = tables.chunks.after(chunk)) {
    setVector(mask, tables, chunk);
    steps += 1 / VECTORS_A_STEP;
  }
  return steps;
}

function takes({ isReadable, fits }: Decision, document: MirroredDocument | undefined): boolean {
  return document !== undefined && isReadable(document) && fits(document);
}

function set(mask: Progress, slot: number, isTaken: boolean): void {
  // `documents` has a byte for every document slot, so that `?? 0` never applies.
  mask.count += Number(isTaken) - (mask.documents[slot] ?? 0);
  mask.documents[slot] = Number(isTaken);
}

function setVector(mask: Progress, { chunks, segmentSize }: Tables, slot: number): void {
  const segment = mask.vectors[Math.floor(slot / segmentSize)];
  // A slot without a chunk belongs to document -1, which is in no mask.
  if (segment) segment[slot % segmentSize] = mask.documents[chunks.documentOf(slot)] ?? 0;
}

function conditionsOf(filter: Filter): number {
  if (filter.type === 'not') return conditionsOf(filter.filter);
  if (filter.type !== 'and' && filter.type !== 'or') return 1;
  return filter.filters.reduce((sum, part) => sum + conditionsOf(part), 0);
}
