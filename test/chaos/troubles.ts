/** What of the service is down, frozen or starting at the moment, by name. */
export type Troubles = ReturnType<typeof createTroubles>;

/** @param needs sets of names, of each of which one must be well for the time to count as calm */
export function createTroubles(needs: readonly (readonly string[])[]) {
  const current = new Set<string>();
  let counted = 0;
  let since = performance.now();
  const isCalm = () => needs.every((names) => names.some((name) => !current.has(name)));
  const count = () => {
    const now = performance.now();
    if (isCalm()) counted += now - since;
    since = now;
  };
  return {
    has: (name: string) => current.has(name),
    /** Returns what ends it. */
    begin: (name: string) => {
      count();
      current.add(name);
      return () => {
        count();
        current.delete(name);
      };
    },
    /** Milliseconds so far in which all that is needed was there. */
    calmMs: (): number => {
      count();
      return counted;
    },
  };
}
