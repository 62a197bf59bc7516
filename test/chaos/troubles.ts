/** The parts of the service that are down, frozen or starting at the moment, by name. */
export type Troubles = ReturnType<typeof createTroubles>;

/** A time in which something was in trouble, in milliseconds of `performance.now`; it lasts where `to` is infinite. */
interface Trouble {
  readonly name: string;
  readonly from: number;
  to: number;
}

/** Others find a process that was down again within this time: they ask for it now and then. */
const RECOVERY_MS = 2_000;

/** @param needs sets of names, of each of which one must be well for the time to count as calm */
export function createTroubles(needs: readonly (readonly string[])[]) {
  const current = new Set<string>();
  const all: Trouble[] = [];
  /** Until when each recovers. */
  const recovering = new Map<string, number>();
  let counted = 0;
  let since = performance.now();
  /** From when on, since the last change, all that is needed is there. */
  const calmFrom = () =>
    Math.max(
      ...needs.map((names) =>
        Math.min(...names.map((name) => (current.has(name) ? Infinity : (recovering.get(name) ?? 0)))),
      ),
    );
  const count = () => {
    const now = performance.now();
    counted += Math.max(0, now - Math.max(since, calmFrom()));
    since = now;
  };
  return {
    /** The troubles with one of the names that were not over, or not recovered from, at some time. */
    since: (names: readonly string[], at: number): readonly Readonly<Trouble>[] =>
      all.filter(({ name, to }) => names.includes(name) && to + RECOVERY_MS >= at),
    has: (name: string) => current.has(name),
    /** Returns a function that ends it. */
    begin: (name: string) => {
      count();
      current.add(name);
      const trouble: Trouble = { name, from: performance.now(), to: Infinity };
      all.push(trouble);
      return () => {
        count();
        trouble.to = performance.now();
        current.delete(name);
        recovering.set(name, performance.now() + RECOVERY_MS);
      };
    },
    /** Milliseconds so far in which all that is needed was there. */
    calmMs: (): number => {
      count();
      return counted;
    },
  };
}
