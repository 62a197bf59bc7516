import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LlamaContextSequence, Token } from 'node-llama-cpp';

/**
 * Prompts are read in steps that begin at multiples of this, whatever part of them was read before: the engine adds up in
 * another order when a step has another length, and an answer must not depend on reuse.
 */
export const STEP = 64;

interface PrefillCall {
  readonly signal: AbortSignal;
  readonly onProgress?: (read: number, of: number) => void;
}

/** Makes a sequence hold exactly these tokens. Returns how many of them it held already, and has kept. */
export async function prefill(
  sequence: LlamaContextSequence,
  tokens: readonly Token[],
  { signal, onProgress }: PrefillCall,
): Promise<number> {
  const common = commonLength(sequence.contextTokens, tokens);
  // A sequence that holds everything was read in these steps, too.
  const kept = common === tokens.length ? common : common - (common % STEP);
  if (kept < sequence.nextTokenIndex)
    await sequence.eraseContextTokenRanges([{ start: kept, end: sequence.nextTokenIndex }]);
  // A model that cannot go back within its sequence begins anew.
  const reused = sequence.nextTokenIndex;
  for (let at = reused; at < tokens.length;) {
    signal.throwIfAborted();
    const end = Math.min(at - (at % STEP) + STEP, tokens.length);
    await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(at, end));
    at = end;
    onProgress?.(at, tokens.length);
    await nextTurn();
  }
  return reused;
}

/** Returns the number of items that two lists have in common at their beginning. */
export function commonLength<Item>(one: readonly Item[], other: readonly Item[]): number {
  const end = Math.min(one.length, other.length);
  let length = 0;
  while (length < end && one[length] === other[length]) length += 1;
  return length;
}
