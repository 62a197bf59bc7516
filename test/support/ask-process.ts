import type { z } from 'zod';
import type { StartedProcess } from './service.js';

/**
 * Asks a process what a module that was preloaded into it knows (`turn-meter.mjs`). Several such modules may share the
 * channel, so that the answer is the first message of the expected shape.
 */
export function askProcess<T>({ child }: StartedProcess, question: string, answer: z.ZodType<T>): Promise<T> {
  return new Promise((resolve) => {
    const take = (message: unknown) => {
      const { success, data } = answer.safeParse(message);
      if (!success) return;
      child.off('message', take);
      resolve(data);
    };
    child.on('message', take);
    child.send(question);
  });
}
