import type { LlamaCompletion, LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import { beginSpan, type Span } from '../../../shared/tracing/tracing.js';
import { createGivingWay } from '../../../shared/fair-scheduling/giving-way.js';
import type { ModelTurn, ModelTurns, ModelTurnRequest } from '../model-turns.js';
import type { SavedState } from './load-state.js';
import { commonLength } from './prefill.js';
import type { StateAside } from './put-aside.js';
import type { StateFiles } from './saved-states.js';

/** A place in a model's memory that holds one conversation. It keeps it until another takes the place. */
export interface Slot {
  readonly sequence: LlamaContextSequence;
  readonly completion: LlamaCompletion;
}

export interface Slots {
  /** Tokens that a slot holds. */
  readonly window: number;
  /** Runs a task in the free slot that holds the longest beginning of a prompt, or a saved state if that holds more. */
  use<Result>(
    prompt: readonly Token[],
    saved: SavedState | null,
    request: ModelTurnRequest,
    task: (slot: Slot, turn: ModelTurn) => Promise<Result>,
  ): Promise<Result>;
}

interface Place extends Slot {
  isFree: boolean;
  usedAt: number;
}

interface SlotOptions {
  /** One for each slot: conversations that are evaluated together are rounded otherwise than each alone. */
  readonly contexts: readonly LlamaContext[];
  readonly turns: ModelTurns;
  readonly onRestored: (milliseconds: number) => void;
}

export async function openSlots({ contexts, turns, onRestored }: SlotOptions): Promise<Slots> {
  const { LlamaCompletion: Completion } = await import('node-llama-cpp');
  const places = contexts.map((context): Place => {
    const sequence = context.getSequence();
    return { sequence, completion: new Completion({ contextSequence: sequence }), isFree: true, usedAt: 0 };
  });
  return {
    window: Math.min(...contexts.map(({ contextSize }) => contextSize)),
    use: (prompt, saved, request, task) =>
      afterWait((begin) =>
        turns.take(request, async (turn) => {
          begin();
          const place = choose(places, prompt);
          place.isFree = false;
          try {
            await restore(place, { prompt, saved, onRestored });
            return await task(place, turn);
          } finally {
            place.isFree = true;
            place.usedAt = performance.now();
          }
        }),
      ),
  };
}

/** Shows in the trace how long the work waits until it calls its argument; a work that fails before has waited in vain. */
async function afterWait<Result>(work: (begin: () => void) => Promise<Result>): Promise<Result> {
  let waiting: Span | null = beginSpan('wait for conversation');
  const end = () => {
    waiting?.end();
    waiting = null;
  };
  try {
    return await work(end);
  } finally {
    end();
  }
}

/** Returns the free place that holds most of a prompt; among equals the longest unused one. */
function choose(places: readonly Place[], prompt: readonly Token[]): Place {
  const [best] = places
    .filter(({ isFree }) => isFree)
    .map((place) => ({ place, held: heldOf(place, prompt) }))
    .sort((one, other) => other.held - one.held || one.place.usedAt - other.place.usedAt);
  if (!best) throw new Error('a turn was given although no slot is free');
  return best.place;
}

const heldOf = ({ sequence }: Slot, prompt: readonly Token[]) => commonLength(sequence.contextTokens, prompt);

interface Restoring {
  readonly prompt: readonly Token[];
  readonly saved: SavedState | null;
  readonly onRestored: (milliseconds: number) => void;
}

async function restore(place: Place, { prompt, saved, onRestored }: Restoring): Promise<void> {
  if (!saved || commonLength(saved.tokens, prompt) <= heldOf(place, prompt)) return;
  const begin = performance.now();
  await saved.load(place.sequence);
  onRestored(performance.now() - begin);
}

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
