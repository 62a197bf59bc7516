import { z } from 'zod';
import { askProcess } from '../../test/support/ask-process.js';
import type { StartedProcess } from '../../test/support/service.js';

/** Options of node for a process whose event loop is measured. */
export const LOOP_METERED = ['--import', new URL('loop-meter.mjs', import.meta.url).href];

const answer = z.object({ eventLoopDelay: z.object({ p99: z.number(), max: z.number() }) });

/** The milliseconds by which turns of the event loop of a process were late, since this was last asked. */
export async function eventLoopDelay(process: StartedProcess): Promise<{ p99: number; max: number }> {
  return (await askProcess(process, 'event loop delay?', answer)).eventLoopDelay;
}
