import { z } from 'zod';
import type { StartedProcess } from '../../test/support/service.js';

/** Options of node for a process whose event loop is measured. */
export const LOOP_METERED = ['--import', new URL('loop-meter.mjs', import.meta.url).href];

const reply = z.object({ eventLoopDelay: z.object({ p99: z.number(), max: z.number() }) });

/** By how many milliseconds turns of the event loop of a process were late, since this was last asked. */
export async function eventLoopDelay({ child }: StartedProcess): Promise<{ p99: number; max: number }> {
  const answer = new Promise<{ p99: number; max: number }>((resolve) => {
    const take = (message: unknown) => {
      const { success, data } = reply.safeParse(message);
      if (!success) return;
      child.off('message', take);
      resolve(data.eventLoopDelay);
    };
    child.on('message', take);
  });
  child.send('event loop delay?');
  return answer;
}
