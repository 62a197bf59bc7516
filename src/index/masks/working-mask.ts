import { at } from '../../shared/at.js';
import type { AppRules, AppTypes } from '../tables/app.js';
import type { ChunkTable } from '../tables/chunk-table.js';
import type { IndexedDocument } from '../tables/document-table.js';
import type { AccessClass } from '../tables/partitions.js';

/** The documents that a caller may read and a filter matches. */
export interface Mask {
  /** One byte per document slot, 1 where the document is in the mask. */
  readonly documents: Uint8Array;
  /** The number of documents in the mask. */
  readonly count: number;
  /** The slots of the documents, where they have always been few; null otherwise. */
  readonly few: ReadonlySet<number> | null;
}

/** A mask of at most this many documents also has them as a set. */
const FEW = 1_024;

/** The documents that masks are computed from. */
export interface Tables<App extends AppTypes> {
  /** By document slot. */
  readonly documents: readonly (IndexedDocument<App> | undefined)[];
  /** The slots of all documents that a caller may perhaps read. */
  readonly readableBy: (principal: App['principal']) => Int32Array;
}

/** A mask that is being computed or brought up to date. Repeating a step does no harm. */
export interface WorkingMask<App extends AppTypes> extends Mask {
  /** Estimate of the heap that it takes with its filter, rather too high than too low. */
  readonly bytes: number;
  /** The number of changes that it has taken in. */
  readonly seen: number;
  /** Takes up to `steps` steps. Answers how many were left when all was done, so that 0 means there may be more to do. */
  advance(tables: Tables<App>, changes: readonly number[], steps: number): number;
}

/** Heap of an entry and its small parts, in bytes. */
const OVERHEAD = 4_096;
/** Bytes of a remembered decision about an access class. */
const BYTES_A_CLASS = 40;
/** Bytes of a slot in that set, which grows by doubling. */
const BYTES_A_FEW = 48;
/** Conditions that one step compares a document with. */
const CONDITIONS_A_STEP = 2;

/** The state of the computation. */
interface Progress {
  documents: Uint8Array;
  count: number;
  few: Set<number> | null;
  seen: number;
  /** The slots to look at; null before the first step and after the last. */
  candidates: Int32Array | null;
  next: number;
  isBegun: boolean;
}

/** Decides which documents are in a mask. */
interface Decision<App extends AppTypes> {
  readonly isReadable: (accessClass: AccessClass<App>) => boolean;
  readonly matches: (fields: App['fields']) => boolean;
  readonly stepsOfDocument: number;
}

export interface Selector<App extends AppTypes> {
  readonly principal: App['principal'];
  readonly filter: App['filter'] | null;
}

export type MaskRules<App extends AppTypes> = Pick<AppRules<App>, 'mayRead' | 'compile'>;

const EVERYTHING = { matches: () => true, conditions: 0, bytes: 0 };

interface Decisions<App extends AppTypes> {
  readonly first: Decision<App>;
  /** Decides about later changes, which are few, without remembering anything. */
  readonly later: Decision<App>;
  /** Decisions by the number of the access class, so that each is made once. */
  readonly readable: Map<number, boolean>;
  readonly filterBytes: number;
}

function createDecisions<App extends AppTypes>(
  { principal, filter }: Selector<App>,
  { mayRead, compile }: MaskRules<App>,
): Decisions<App> {
  const { matches, conditions, bytes } = filter === null ? EVERYTHING : compile(filter);
  const readable = new Map<number, boolean>();
  const decide = ({ access }: AccessClass<App>) => mayRead(principal, access);
  const first: Decision<App> = {
    isReadable: (accessClass) => remembered(readable, accessClass, decide),
    matches,
    stepsOfDocument: 1 + conditions / CONDITIONS_A_STEP,
  };
  return { first, later: { ...first, isReadable: decide }, readable, filterBytes: bytes };
}

/** @param seenSoFar the number of earlier changes, which need not be looked at */
export function createWorkingMask<App extends AppTypes>(
  selector: Selector<App>,
  rules: MaskRules<App>,
  seenSoFar: number,
): WorkingMask<App> {
  const { first, later, readable, filterBytes } = createDecisions(selector, rules);
  const mask = noProgress(seenSoFar);

  return {
    get documents() {
      return mask.documents;
    },
    get count() {
      return mask.count;
    },
    get few() {
      return mask.few;
    },
    get seen() {
      return mask.seen;
    },
    get bytes() {
      const candidates = mask.candidates?.byteLength ?? 0;
      const sets = readable.size * BYTES_A_CLASS + (mask.few?.size ?? 0) * BYTES_A_FEW;
      return OVERHEAD + filterBytes + mask.documents.length + candidates + sets;
    },
    advance: (tables, changes, steps) => {
      resize(mask, tables);
      if (!mask.isBegun) begin(mask, tables.readableBy(selector.principal), changes.length);
      const left = lookAtDocuments(mask, tables, { decision: first, steps });
      if (!mask.candidates) readable.clear();
      return applyChanges(mask, tables, { changes, decision: later, steps: left });
    },
  };
}

function noProgress(seenSoFar: number): Progress {
  return {
    documents: new Uint8Array(0),
    count: 0,
    few: new Set(),
    seen: seenSoFar,
    candidates: null,
    next: 0,
    isBegun: false,
  };
}

/** Begins the computation. Earlier changes are in the tables already. */
function begin(mask: Progress, candidates: Int32Array, changes: number): void {
  Object.assign(mask, { isBegun: true, candidates, seen: changes });
}

function remembered<Class extends Pick<AccessClass, 'id'>>(
  known: Map<number, boolean>,
  accessClass: Class,
  decide: (accessClass: Class) => boolean,
): boolean {
  const decided = known.get(accessClass.id);
  if (decided !== undefined) return decided;
  const answer = decide(accessClass);
  known.set(accessClass.id, answer);
  return answer;
}

function resize(mask: Progress, { documents }: Pick<Tables<AppTypes>, 'documents'>): void {
  if (documents.length <= mask.documents.length) return;
  const larger = new Uint8Array(Math.max(1024, documents.length * 1.5));
  larger.set(mask.documents);
  mask.documents = larger;
}

/** @returns the steps that are left */
function lookAtDocuments<App extends AppTypes>(
  mask: Progress,
  { documents }: Tables<App>,
  { decision, steps }: { readonly decision: Decision<App>; readonly steps: number },
): number {
  const { candidates } = mask;
  if (!candidates) return steps;
  let left = steps;
  for (; left > 0 && mask.next < candidates.length; mask.next += 1) {
    const slot = at(candidates, mask.next);
    set(mask, slot, takes(decision, documents[slot]));
    left -= decision.stepsOfDocument;
  }
  if (mask.next === candidates.length) mask.candidates = null;
  return left;
}

/** @returns the steps that are left */
function applyChanges<App extends AppTypes>(
  mask: Progress,
  { documents }: Tables<App>,
  {
    changes,
    decision,
    steps,
  }: { readonly changes: readonly number[]; readonly decision: Decision<App>; readonly steps: number },
): number {
  let left = steps;
  while (left > 0 && mask.seen < changes.length) {
    const slot = changes[mask.seen];
    set(mask, slot, takes(decision, documents[slot]));
    left -= decision.stepsOfDocument;
    mask.seen += 1;
  }
  return Math.max(0, left);
}

function takes<App extends AppTypes>(
  { isReadable, matches }: Decision<App>,
  document: IndexedDocument<App> | undefined,
): boolean {
  return document !== undefined && isReadable(document.accessClass) && matches(document.fields);
}

function set(mask: Progress, slot: number, isTaken: boolean): void {
  // `documents` has a byte for every document slot.
  mask.count += Number(isTaken) - mask.documents[slot];
  mask.documents[slot] = Number(isTaken);
  if (isTaken) mask.few?.add(slot);
  else mask.few?.delete(slot);
  if (mask.few && mask.few.size > FEW) mask.few = null;
}

interface SlotTables {
  readonly chunks: Pick<ChunkTable, 'links'>;
  /** By document slot. */
  readonly documents: readonly (Pick<IndexedDocument, 'firstChunk'> | undefined)[];
}

/** Scoring a chunk by itself takes as long as reading this many postings. */
const CHUNKS_A_SCORE = 16;

/**
 * Returns the slots of all chunks of a mask, where they are so few among the chunks of the partitions that each is scored
 * by itself; null otherwise. So a search of a caller who may read a single document of somebody who has a million is not
 * slower for that.
 *
 * @param available the number of chunks that the partitions hold
 */
export function fewSlots(
  { chunks: { links }, documents }: SlotTables,
  mask: Mask | null,
  available: number,
): readonly number[] | null {
  if (!mask?.few) return null;
  const slots: number[] = [];
  for (const documentSlot of mask.few) {
    for (let slot = documents[documentSlot]?.firstChunk ?? -1; slot >= 0; slot = links.after(slot)) {
      if (slots.push(slot) * CHUNKS_A_SCORE > available) return null;
    }
  }
  return slots;
}
