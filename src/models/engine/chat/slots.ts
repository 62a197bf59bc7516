import type { LlamaCompletion, LlamaContext, LlamaContextSequence, Token } from 'node-llama-cpp';
import type { ModelTurn, ModelTurns, ModelTurnRequest } from '../model-turns.js';
import { commonLength } from './prefill.js';
import type { SavedState } from './load-state.js';

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
      turns.take(request, async (turn) => {
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
  };
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
