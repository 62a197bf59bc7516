import { hash } from 'node:crypto';
import type { Filter } from '../../filters.js';
import { createSlices, type Slices } from './slices.js';
import {
  createWorkingMask,
  type Mask,
  type TableChange,
  type Tables,
  type WorkingMask,
} from './working-mask.js';

/** Of all masks together, the sets of values of their filters included. */
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
   * Computes a mask in slices, so that whoever waits for another is served in between.
   * @returns null once `isWanted` says that nobody waits for it any more
   */
  prepare(selector: Selector, isWanted: () => boolean): Promise<ReadMask | null>;
  /** What all that are kept hold, in bytes, and how many they are. */
  readonly held: { readonly bytes: number; readonly masks: number };
  /** To be told of every document slot and every vector slot whose content changed. */
  noteDocument(slot: number): void;
  noteVector(slot: number): void;
  clear(): void;
}

export function createMasks(
  tables: () => Tables,
  { mostBytes = MASK_BYTES, slices = createSlices() }: { mostBytes?: number; slices?: Slices } = {},
): Masks {
  /** In the order of their last use: the first is the one not used for longest. */
  const kept = new Map<string, { readonly mask: WorkingMask; bytes: number }>();
  let bytes = 0;
  let changes: TableChange[] = [];
  /** Raised whenever all masks are void. */
  let epoch = 0;

  const clear = () => {
    kept.clear();
    [bytes, changes] = [0, []];
    epoch += 1;
  };
  const note = (kind: TableChange['kind'], slot: number) => {
    changes.push({ kind, slot });
    if (changes.length > CHANGES_KEPT) clear();
  };
  const drop = (key: string) => {
    bytes -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, mask: WorkingMask) => {
    drop(key);
    kept.set(key, { mask, bytes: mask.bytes });
    bytes += mask.bytes;
    for (const oldest of kept.keys()) {
      if (bytes <= mostBytes) break;
      drop(oldest);
    }
  };

  return {
    prepare: async ({ callerId, filter }, isWanted) => {
      // Of a digest: filters of a quarter of a megabyte would be kept as the names of their masks.
      const key = hash('sha256', JSON.stringify([callerId, filter]), 'base64');
      let [mask, begun] = [kept.get(key)?.mask, epoch];
      const advance = (isTimeLeft: () => boolean): boolean => {
        if (!isWanted()) return true;
        if (!mask || begun !== epoch) {
          mask = kept.get(key)?.mask ?? createWorkingMask(callerId, filter, changes.length);
          begun = epoch;
        }
        let isDone = false;
        do isDone = mask.advance(tables(), changes, STEPS_AT_ONCE) > 0;
        while (!isDone && isTimeLeft());
        keep(key, mask);
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
      return { bytes, masks: kept.size };
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
