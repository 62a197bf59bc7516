import { z } from 'zod';
import type { StartedProcess } from './service.js';

/** Options of node for a process that can be asked for its memory. */
export const MEMORY_METERED = ['--import', new URL('memory-meter.mjs', import.meta.url).href];

const reply = z.object({ heldMemory: z.number() });

/** Bytes that the main thread of a process holds, its heap and what lies outside of it, after a collection. */
export async function heldMemory({ child }: StartedProcess): Promise<number> {
  const answer = new Promise<number>((resolve) => {
    const take = (message: unknown) => {
      const { success, data } = reply.safeParse(message);
      if (!success) return;
      child.off('message', take);
      resolve(data.heldMemory);
    };
    child.on('message', take);
  });
  child.send('held memory?');
  return answer;
}
