import { hash } from 'node:crypto';
import type { Filter } from '../../../filters/parse.js';
import { createMaskCache, type MaskCache } from './mask-cache.js';
import { createSlices, type Slices } from './slices.js';
import { createWorkingMask, type Mask, type TableChange, type Tables } from './working-mask.js';

/** Memory of all masks together, including the sets of values of their filters. */
export const MASK_BYTES = 64 * 2 ** 20;
/** Changes remembered for masks to catch up with; past that, computing them anew is as cheap. */
const CHANGES_KEPT = 10_000;
/** Steps between two looks at the clock, see `createWorkingMask`: some tens of microseconds for usual documents. */
const STEPS_AT_ONCE = 32;

export interface Selector {
  readonly callerId: string;
  readonly filter: Filter | null;
}

/** Brings a mask up to date, in one step, and reads it: valid until the tables change. */
export type ReadMask = () => Mask;

/** Masks of recent callers and filters, brought up to date when they are used. */
export interface Masks {
  /**
   * Computes a mask in slices, so that those who wait for another are served in between.
   * @returns null once `isWanted` says that nobody waits for it any more
   */
  prepare(selector: Selector, isWanted: () => boolean): Promise<ReadMask | null>;
  /** Memory of the masks that are kept, and their number. */
  readonly held: { readonly bytes: number; readonly masks: number };
  /** To be told of every document slot and every vector slot whose content changed. */
  noteDocument(slot: number): void;
  noteVector(slot: number): void;
  clear(): void;
}

/** What all masks share. */
interface Shared {
  readonly tables: () => Tables;
  readonly kept: MaskCache;
  changes: TableChange[];
  /** Raised whenever all masks are void. */
  epoch: number;
}

export function createMasks(
  tables: () => Tables,
  { maxBytes = MASK_BYTES, slices = createSlices() }: { maxBytes?: number; slices?: Slices } = {},
): Masks {
  const shared: Shared = { tables, kept: createMaskCache(maxBytes), changes: [], epoch: 0 };
  return {
    prepare: async (selector, isWanted) => {
      const current = createCurrentMask(shared, selector);
      // Nobody waits for it any more: then nothing is left to do.
      const advance = (isTimeLeft: () => boolean) => !isWanted() || current.advance(isTimeLeft);
      if (!current.isMade() || !advance(() => false)) await slices.run(selector.callerId, advance);
      return isWanted() ? current.read : null;
    },
    get held() {
      return shared.kept.held;
    },
    noteDocument: (slot) => note(shared, { kind: 'document', slot }),
    noteVector: (slot) => note(shared, { kind: 'vector', slot }),
    clear: () => clear(shared),
  };
}

function note(shared: Shared, change: TableChange): void {
  shared.changes.push(change);
  if (shared.changes.length > CHANGES_KEPT) clear(shared);
}

function clear(shared: Shared): void {
  shared.kept.clear();
  shared.changes = [];
  shared.epoch += 1;
}

/** The mask of a selector, made when it is first advanced, and made anew when all masks became void meanwhile. */
function createCurrentMask(shared: Shared, { callerId, filter }: Selector) {
  // A digest, since otherwise filters of a quarter of a megabyte would be kept as the names of their masks.
  const key = hash('sha256', JSON.stringify([callerId, filter]), 'base64');
  let [mask, begun] = [shared.kept.get(key), shared.epoch];
  /** @returns whether the mask is up to date */
  const advance = (isTimeLeft: () => boolean): boolean => {
    const { kept, changes, epoch, tables } = shared;
    if (!mask || begun !== epoch) {
      mask = kept.get(key) ?? createWorkingMask(callerId, filter, changes.length);
      begun = epoch;
    }
    let isDone = false;
    do isDone = mask.advance(tables(), changes, STEPS_AT_ONCE) > 0;
    while (!isDone && isTimeLeft());
    kept.keep(key, mask);
    return isDone;
  };
  const read: ReadMask = () => {
    while (!advance(() => true));
    if (!mask) throw new Error('a mask that was never made');
    return mask;
  };
  return { isMade: () => mask !== undefined, advance, read };
}
