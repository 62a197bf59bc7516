/**
 * The use that callers make of something that few have at once, such as a parser: in seconds, of which half are forgotten
 * with time.
 */
export interface DecayedUsage {
  /** Seconds that a caller has used lately, including its present uses. */
  used(by: string): number;
  /** Returns the number of present uses of a caller. */
  held(by: string): number;
  /** Notes that a caller has one more. @returns a function that notes its end, when it is first called */
  begin(by: string): () => void;
  /** Negative when the first caller goes before the second: it has fewer at the moment, or else has used less. */
  compare(one: string, other: string): number;
}

interface DecayOptions {
  readonly halfLifeMilliseconds?: number;
  /** A clock in milliseconds. */
  readonly now?: () => number;
}

/** Long enough to remember who came with one slow file after the other, and short enough to forget a morning's rush. */
const HALF_LIFE_MILLISECONDS = 300_000;
/** A caller who has used no more is forgotten when there are many. */
const MIN_SECONDS = 0.05;
/** The number of callers from which idle ones are looked for. */
const MANY = 1_000;

interface Use {
  /** Seconds of ended uses, as they were at `at`. */
  seconds: number;
  at: number;
  /** The beginnings of its present uses. */
  readonly begun: Set<{ readonly at: number }>;
}

/** Callers who have used nothing for a while take no memory. */
export function createDecayedUsage({
  halfLifeMilliseconds = HALF_LIFE_MILLISECONDS,
  now = () => performance.now(),
}: DecayOptions = {}): DecayedUsage {
  const uses = new Map<string, Use>();
  let most = MANY;
  const faded = ({ seconds, at }: Use) => seconds * 2 ** ((at - now()) / halfLifeMilliseconds);
  const forgetFaded = () => {
    if (uses.size < most) return;
    for (const [by, use] of uses) if (use.begun.size === 0 && faded(use) < MIN_SECONDS) uses.delete(by);
    most = Math.max(MANY, 2 * uses.size);
  };
  const held = (by: string) => uses.get(by)?.begun.size ?? 0;
  const used = (by: string) => {
    const use = uses.get(by);
    if (!use) return 0;
    const running = Array.from(use.begun, ({ at }) => now() - at).reduce((sum, each) => sum + each, 0);
    return faded(use) + running / 1_000;
  };
  return {
    held,
    used,
    begin: (by) => {
      forgetFaded();
      const use = uses.get(by) ?? { seconds: 0, at: now(), begun: new Set() };
      uses.set(by, use);
      const one = { at: now() };
      use.begun.add(one);
      return () => {
        if (!use.begun.delete(one)) return;
        use.seconds = faded(use) + (now() - one.at) / 1_000;
        use.at = now();
      };
    },
    compare: (one, other) => held(one) - held(other) || used(one) - used(other),
  };
}
