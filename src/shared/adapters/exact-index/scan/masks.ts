import { hash } from 'node:crypto';
import type { Filter } from '../../../filters/parse.js';
import { createMaskCache } from './mask-cache.js';
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

export function createMasks(
  tables: () => Tables,
  { maxBytes = MASK_BYTES, slices = createSlices() }: { maxBytes?: number; slices?: Slices } = {},
): Masks {
  const kept = createMaskCache(maxBytes);
  let changes: TableChange[] = [];
  /** Raised whenever all masks are void. */
  let epoch = 0;

  const clear = () => {
    kept.clear();
    changes = [];
    epoch += 1;
  };
  const note = (kind: TableChange['kind'], slot: number) => {
    changes.push({ kind, slot });
    if (changes.length > CHANGES_KEPT) clear();
  };

  return {
    prepare: async ({ callerId, filter }, isWanted) => {
      // A digest, since otherwise filters of a quarter of a megabyte would be kept as the names of their masks.
      const key = hash('sha256', JSON.stringify([callerId, filter]), 'base64');
      let [mask, begun] = [kept.get(key), epoch];
      const advance = (isTimeLeft: () => boolean): boolean => {
        if (!isWanted()) return true;
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
      if (!(mask && advance(() => false))) await slices.run(callerId, advance);
      if (!isWanted()) return null;
      return () => {
        while (!advance(() => true));
        if (!mask) throw new Error('a mask that was never made');
        return mask;
      };
    },
    get held() {
      return kept.held;
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
