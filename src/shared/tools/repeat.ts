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
