/** Repeats an action, each time a while after the last one has ended. @returns a function that ends it */
export function repeat(
  action: () => Promise<unknown>,
  { everyMilliseconds, onError }: { everyMilliseconds: number; onError: (error: unknown) => void },
): () => void {
  let ended = false;
  const next = () => {
    if (ended) return;
    timer = setTimeout(() => {
      action().catch(onError).finally(next);
    }, everyMilliseconds);
  };
  let timer: NodeJS.Timeout | undefined;
  next();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

/** Looks again and again, after the last look has ended, until it is closed. Looks that fail are told of. */
export function lookRegularly(
  everyMilliseconds: number,
  look: () => Promise<void>,
  onError: (error: unknown) => void,
): { close(): void } {
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch(onError)
      .finally(() => {
        isLooking = false;
      });
  }, everyMilliseconds);
  return {
    close: () => {
      clearInterval(timer);
    },
  };
}
