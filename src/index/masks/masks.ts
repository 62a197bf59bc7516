import { hash } from 'node:crypto';
import type { AppTypes } from '../tables/app.js';
import { createSlices, type Slices } from './slices.js';
import {
  createWorkingMask,
  type Mask,
  type MaskRules,
  type Selector,
  type Tables,
  type WorkingMask,
} from './working-mask.js';

/** Bytes of all masks together, including the values of their filters. */
export const MASK_BYTES = 64 * 2 ** 20;
/** Changes that are remembered for masks to catch up with. Beyond that, computing the masks anew costs no more. */
const CHANGES_KEPT = 10_000;
/** Steps between two looks at the clock, see `createWorkingMask`: tens of microseconds for usual documents. */
const STEPS_AT_ONCE = 32;

/** Brings a mask up to date in one step and returns it. It is valid until the tables change. */
export type ReadMask = () => Mask;

/** The masks of recent callers and filters, brought up to date when they are used. */
export interface Masks<App extends AppTypes> {
  /**
   * Computes a mask in slices, so that others are served in between.
   * @returns null once `isWanted` says that nobody waits for it any more
   */
  prepare(selector: Selector<App>, isWanted: () => boolean): Promise<ReadMask | null>;
  /** The number of masks that are kept, and their bytes. */
  readonly held: { readonly bytes: number; readonly masks: number };
  /** Must be called with every document slot whose content changed. */
  noteDocument(slot: number): void;
  clear(): void;
}

/** The state that all masks share. */
interface Shared<App extends AppTypes> {
  readonly rules: MaskRules<App>;
  readonly tables: () => Tables<App>;
  readonly kept: MaskCache<WorkingMask<App>>;
  /** Document slots. */
  changes: number[];
  /** Raised whenever all masks are void. */
  epoch: number;
}

export function createMasks<App extends AppTypes>(
  tables: () => Tables<App>,
  rules: MaskRules<App>,
  { maxBytes = MASK_BYTES, slices = createSlices() }: { maxBytes?: number; slices?: Slices } = {},
): Masks<App> {
  const shared: Shared<App> = { rules, tables, kept: createMaskCache(maxBytes), changes: [], epoch: 0 };
  return {
    prepare: async (selector, isWanted) => {
      const current = createCurrentMask(shared, selector);
      // When nobody waits for the mask any more, nothing is left to do.
      const advance = (isTimeLeft: () => boolean) => !isWanted() || current.advance(isTimeLeft);
      if (!current.isMade() || !advance(() => false)) await slices.run(selector.principal.id, advance);
      return isWanted() ? current.read : null;
    },
    get held() {
      return shared.kept.held;
    },
    noteDocument: (slot) => note(shared, slot),
    clear: () => clear(shared),
  };
}

function note<App extends AppTypes>(shared: Shared<App>, slot: number): void {
  shared.changes.push(slot);
  if (shared.changes.length > CHANGES_KEPT) clear(shared);
}

function clear<App extends AppTypes>(shared: Shared<App>): void {
  shared.kept.clear();
  shared.changes = [];
  shared.epoch += 1;
}

/**
 * Keeps the mask of a selector, which is made when it is first advanced, and made anew when all masks were cleared
 * meanwhile.
 */
function createCurrentMask<App extends AppTypes>(shared: Shared<App>, selector: Selector<App>) {
  const { principal, filter } = selector;
  // The key is a digest, since filters of a quarter of a megabyte would otherwise be kept as keys.
  const key = hash('sha256', JSON.stringify([principal, filter]), 'base64');
  let [mask, begun] = [shared.kept.get(key), shared.epoch];
  /** @returns true if the mask is up to date */
  const advance = (isTimeLeft: () => boolean): boolean => {
    const { kept, changes, epoch, tables } = shared;
    if (!mask || begun !== epoch) {
      mask = kept.get(key) ?? createWorkingMask(selector, shared.rules, changes.length);
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
    if (!mask) throw new Error('the mask was never made');
    return mask;
  };
  return { isMade: () => mask !== undefined, advance, read };
}

/** An object that takes memory, and may take more with time. */
interface Sized {
  readonly bytes: number;
}

/** Masks by key, within a budget of memory. The masks that were not used for longest are dropped first. */
interface MaskCache<Mask extends Sized> {
  get(key: string): Mask | undefined;
  /** Stores a mask, or updates the size of one that has grown, and makes it the one that was used last. */
  keep(key: string, mask: Mask): void;
  readonly held: { readonly bytes: number; readonly masks: number };
  clear(): void;
}

function createMaskCache<Mask extends Sized>(maxBytes: number): MaskCache<Mask> {
  /** Ordered by last use, the oldest first; `bytes` is the size of the mask at that time. */
  const kept = new Map<string, { readonly mask: Mask; readonly bytes: number }>();
  let bytes = 0;

  const drop = (key: string) => {
    const entry = kept.get(key);
    if (!entry) return;
    bytes -= entry.bytes;
    kept.delete(key);
  };
  return {
    get: (key) => kept.get(key)?.mask,
    keep: (key, mask) => {
      drop(key);
      kept.set(key, { mask, bytes: mask.bytes });
      bytes += mask.bytes;
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) break;
        drop(oldest);
      }
    },
    get held() {
      return { bytes, masks: kept.size };
    },
    clear: () => {
      kept.clear();
      bytes = 0;
    },
  };
}
