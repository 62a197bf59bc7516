import { existsSync } from 'node:fs';
import { z } from 'zod';
import { askProcess } from './ask-process.js';
import { leastOfThree } from './least-of-three.js';
import type { StartedProcess } from './service.js';

/** True where the kernel tells the processor time of a thread. */
export const canMeterTurns = existsSync('/proc/thread-self/schedstat');

/** Options of node for a process whose turns are measured. */
export const METERED = canMeterTurns ? ['--import', new URL('turn-meter.mjs', import.meta.url).href] : [];

const answer = z.object({ longestTurn: z.number() });

/**
 * Milliseconds of processor time that the longest turn of a process's event loop took since this was asked last; 0 where
 * that cannot be known.
 */
export async function longestTurn(process: StartedProcess): Promise<number> {
  if (!canMeterTurns) return 0;
  return (await askProcess(process, 'longest turn?', answer)).longestTurn;
}

/**
 * Milliseconds of processor time that the longest turn of a process takes during a piece of work; of three tries the
 * least, and no further one after a turn of less than `enough`: a processor that is shared takes longer for the same work,
 * and what is compiled or collected meanwhile counts.
 */
export function longestTurnOf(
  askLongestTurn: () => Promise<number>,
  { during, enough }: { readonly during: () => Promise<unknown>; readonly enough: number },
): Promise<number> {
  return leastOfThree(async () => {
    await askLongestTurn();
    await during();
    return askLongestTurn();
  }, enough);
}
