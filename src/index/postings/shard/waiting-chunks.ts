import type { SlotPositions } from './slot-positions.js';

/** Returns the packed terms of a slot; null where the slot holds none. */
export type ReadTerms = (slot: number) => Uint8Array | null;

/**
 * The chunks of a shard that are in no segment, which are read one by one: those that wait to be in one, and those that a merge
 * has begun to put into one, which are sealed.
 */
export interface WaitingChunks {
  /** How many wait. */
  readonly size: number;
  add(slot: number): void;
  /** Removes a chunk that is in no segment. */
  remove(slot: number): void;
  /** Calls `tell` for each chunk that has terms, also for those that are sealed. */
  each(tell: (slot: number, packed: Uint8Array) => void): void;
  /** Seals those that came last, at most `limit` of them. @returns their slots; -1 for those that are removed meanwhile */
  seal(limit: number): readonly number[];
  /** Forgets those that were sealed: they are in a segment now. */
  forgetSealed(): void;
}

/** A sealed chunk is told from one that waits by its position, which is negative. This is its own inverse. */
const sealedAt = (position: number): number => -position - 1;

interface State {
  readonly positions: SlotPositions;
  readonly read: ReadTerms;
  readonly waiting: number[];
  /** -1 for those that have gone since. */
  sealed: number[];
}

export function createWaitingChunks(parts: Pick<State, 'positions' | 'read'>): WaitingChunks {
  const state: State = { positions: parts.positions, read: parts.read, waiting: [], sealed: [] };
  return {
    get size() {
      return state.waiting.length;
    },
    add: (slot) => {
      state.positions.set(slot, null, state.waiting.push(slot) - 1);
    },
    remove: (slot) => remove(state, slot),
    each: (tell) => {
      for (const slots of [state.waiting, state.sealed]) {
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

function remove({ positions, waiting, sealed }: State, slot: number): void {
  const position = positions.positionOf(slot);
  if (position < 0) {
    sealed[sealedAt(position)] = -1;
    return;
  }
  const last = waiting.pop();
  if (last === undefined || position === waiting.length) return;
  waiting[position] = last;
  positions.set(last, null, position);
}

function seal(state: State, limit: number): readonly number[] {
  const { positions, waiting } = state;
  // Those that are left keep their positions.
  state.sealed = waiting.splice(Math.max(0, waiting.length - limit));
  for (const [at, slot] of state.sealed.entries()) positions.set(slot, null, sealedAt(at));
  return state.sealed;
}
