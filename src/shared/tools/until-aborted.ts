import { setMaxListeners } from 'node:events';

/**
 * Waits for `answer` until the signal aborts, and then rejects with its reason. The work
 * behind the answer continues, and its outcome is ignored.
 */
export async function untilAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!signal) return answer;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(reasonOf(signal));
    };
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([answer, aborted]);
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
    answer.catch(() => undefined);
  }
}

/** The reason with which a signal was aborted. */
// @NOTE it is whatever was given to abort(), and is passed on unchanged
export const reasonOf = (signal: AbortSignal): Error => signal.reason as Error;

/** Makes a controller whose signal any number may listen to at once. Node takes more than ten for a leak and warns of them. */
export function createSharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
