/**
 * Waits for `answer` until the signal aborts, and rejects with its reason then. The work behind the answer goes on; what
 * becomes of it is of no interest any more.
 */
export async function untilAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!signal) return answer;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      // @NOTE a reason is whatever the caller aborted with; it goes back as it came
      reject(signal.reason as Error);
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
