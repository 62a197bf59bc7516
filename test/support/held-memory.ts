import { z } from 'zod';
import { askProcess } from './ask-process.js';
import type { StartedProcess } from './service.js';

/** Options of node for a process that can be asked for its memory. */
export const MEMORY_METERED = ['--import', new URL('memory-meter.mjs', import.meta.url).href];

const answer = z.object({ heldMemory: z.number() });

/** Bytes that the main thread of a process holds, its heap and what lies outside of it, after a collection. */
export async function heldMemory(process: StartedProcess): Promise<number> {
  return (await askProcess(process, 'held memory?', answer)).heldMemory;
}
