import type { Token } from 'node-llama-cpp';
import { createGivingWay } from '../../../shared/fair-scheduling/giving-way.js';
import type { ModelTurnRequest } from '../model-turns.js';
import type { SavedState } from './load-state.js';
import type { StateAside } from './put-aside.js';
import type { StateFiles } from './saved-states.js';
import type { Slot, Slots } from './slots.js';

/** A conversation is first asked after this long whether it gives way; its turns say when it does. */
const FIRST_LOOK_MILLISECONDS = 500;

interface Parts {
  readonly slots: Slots;
  readonly states: Pick<StateFiles, 'putAside'>;
  /** Called each time that a conversation gives way. */
  readonly onGaveWay: () => void;
}

interface Conversation {
  /** Returns all tokens so far, written ones included. */
  readonly tokens: () => readonly Token[];
  readonly saved: SavedState | null;
  readonly call: ModelTurnRequest;
}

/**
 * Works in a slot in as many turns as it takes. When another request that waits goes first, the state of the slot is put
 * aside. The work is called again in the next turn, in a slot with the same state: in the same numbers, unless there was no
 * room to put it aside.
 *
 * @param work ends soon after its signal aborts, by throwing, at a point from which it can go on
 */
export async function inTurns<Result>(
  { slots, states, onGaveWay }: Parts,
  { tokens, saved, call }: Conversation,
  work: (slot: Slot, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  let aside: StateAside | null = null;
  const run = async (hasBegun: boolean) => {
    const before: StateAside | null = aside;
    return await slots.use(tokens(), before ?? saved, { ...call, hasBegun }, async (slot, turn) => {
      await before?.discard();
      aside = null;
      const { signal } = call;
      const way = createGivingWay({ milliseconds: FIRST_LOOK_MILLISECONDS, ...turn, signal });
      try {
        return { result: await work(slot, way.signal) };
      } catch (error) {
        if (!way.gaveWay || signal.aborted) throw error;
        onGaveWay();
        aside = await states.putAside(slot.sequence);
        return null;
      } finally {
        way.clear();
      }
    });
  };
  try {
    for (let hasBegun = false; ; hasBegun = true) {
      const done = await run(hasBegun);
      if (done) return done.result;
    }
  } finally {
    await discard(aside);
  }
}

const discard = (aside: StateAside | null): Promise<void> | undefined => aside?.discard();
