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
