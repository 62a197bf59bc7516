/** The reason to give up a task: nobody wants its result any more. */
class UnwantedError extends Error {
  override readonly name = 'UnwantedError';
}

const LOOK_MILLISECONDS = 2_000;

export interface Wanted {
  /** Looks whether the result is still wanted. A look that fails tells nothing. */
  readonly isWanted: () => Promise<boolean>;
  readonly signal: AbortSignal;
}

/** Runs a task as long as its result is wanted. Null when it was not any more. */
export async function whileWanted<Result>(
  { isWanted, signal }: Wanted,
  task: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | null> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const timer = setInterval(() => {
    isWanted().then(
      (still) => {
        if (!still) controller.abort(new UnwantedError('not wanted any more'));
      },
      () => undefined,
    );
  }, LOOK_MILLISECONDS);
  try {
    signal.throwIfAborted();
    return await task(controller.signal);
  } catch (error) {
    if (controller.signal.reason instanceof UnwantedError) return null;
    throw error;
  } finally {
    clearInterval(timer);
    signal.removeEventListener('abort', abort);
  }
}
