import type { SlotPositions } from './slot-positions.js';

/** Returns the packed terms of a slot; null where the slot holds none. */
export type ReadTerms = (slot: number) => Uint8Array | null;

/**
 * The chunks of a shard that are in no segment, which are read one by one: open ones, and sealed ones, of which a merge has
 * begun to make a segment.
 */
export interface Memtable {
  /** The number of open chunks. */
  readonly size: number;
  add(slot: number): void;
  /** Removes a chunk that is in no segment. */
  remove(slot: number): void;
  /** Calls `tell` for each chunk that has terms, also for sealed ones. */
  each(tell: (slot: number, packed: Uint8Array) => void): void;
  /**
   * Seals the open chunks that came last, at most `limit` of them. @returns their slots; -1 for chunks that are removed
   * meanwhile
   */
  seal(limit: number): readonly number[];
  /** Forgets the sealed chunks: they are in a segment now. */
  forgetSealed(): void;
}

/** A sealed chunk is told from an open one by its position, which is negative. This is its own inverse. */
const sealedAt = (position: number): number => -position - 1;

interface State {
  readonly positions: SlotPositions;
  readonly read: ReadTerms;
  readonly open: number[];
  /** The slots of sealed chunks; -1 for chunks that have gone since. */
  sealed: number[];
}

export function createMemtable(parts: Pick<State, 'positions' | 'read'>): Memtable {
  const state: State = { positions: parts.positions, read: parts.read, open: [], sealed: [] };
  return {
    get size() {
      return state.open.length;
    },
    add: (slot) => {
      state.positions.set(slot, null, state.open.push(slot) - 1);
    },
    remove: (slot) => remove(state, slot),
    each: (tell) => {
      for (const slots of [state.open, state.sealed]) {
        for (const slot of slots) {
          const packed = slot < 0 ? null : state.read(slot);
          if (packed) tell(slot, packed);
        }
      }
    },
    seal: (limit) => seal(state, limit),
    forgetSealed: () => {
      state.sealed = [];
    },
  };
}

function remove({ positions, open, sealed }: State, slot: number): void {
  const position = positions.positionOf(slot);
  if (position < 0) {
    sealed[sealedAt(position)] = -1;
    return;
  }
  const last = open.pop();
  if (last === undefined || position === open.length) return;
  open[position] = last;
  positions.set(last, null, position);
}

function seal(state: State, limit: number): readonly number[] {
  const { positions, open } = state;
  // The chunks that are left keep their positions.
  state.sealed = open.splice(Math.max(0, open.length - limit));
  for (const [at, slot] of state.sealed.entries()) positions.set(slot, null, sealedAt(at));
  return state.sealed;
}
