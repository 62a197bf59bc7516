/** One request of the canary, or one to the service that has nothing to do with Quire. */
export interface Beat {
  readonly kind: 'health' | 'search' | 'control';
  readonly status: number;
  readonly startedAt: number;
  readonly milliseconds: number;
}

/** The times that the canary met in a while. */
export interface Song {
  readonly worstMilliseconds: number;
  /** The longest that it waited twice in a row while the machine was not full; 0 for never longer than it may. */
  readonly keptWaitingMilliseconds: number;
  /** The longest that the service beside Quire took: where that is long, the machine is full. */
  readonly controlMilliseconds: number;
  /** Answers other than 200. */
  readonly failures: readonly string[];
}

/** Every other caller is served within this. */
export const SERVED_WITHIN_MS = 1_000;
/** The control takes five milliseconds on a quiet machine. */
export const FULL_MACHINE_MS = 250;

/**
 * Judges a series of requests. A single late answer says nothing on a machine that is shared, since requests come at a
 * steady pace and any lasting delay is met twice; nor do late ones while other services are late as well.
 */
export function listen(beats: readonly Beat[], withinMilliseconds = SERVED_WITHIN_MS): Song {
  const own = beats.filter(({ kind }) => kind !== 'control');
  const control = beats.filter(({ kind }) => kind === 'control');
  const longest = (some: readonly Beat[]) => Math.max(0, ...some.map(({ milliseconds }) => milliseconds));
  const pairs = (['health', 'search'] as const).flatMap((kind) =>
    latePairs(own, { kind, withinMilliseconds }),
  );
  const kept = pairs.filter((pair) => longest(duringAny(control, pair)) < FULL_MACHINE_MS);
  return {
    worstMilliseconds: Math.round(longest(own)),
    keptWaitingMilliseconds: Math.round(Math.max(0, ...kept.map(longest))),
    controlMilliseconds: Math.round(longest(control)),
    failures: own
      .filter(({ status }) => status !== 200)
      .map(({ kind, status }) => `${kind} ${String(status)}`),
  };
}

/** Two requests of a kind, one begun after the other, that were both late. */
function latePairs(
  beats: readonly Beat[],
  wanted: { kind: Beat['kind']; withinMilliseconds: number },
): Beat[][] {
  const ordered = beats.filter(({ kind }) => kind === wanted.kind).sort((a, b) => a.startedAt - b.startedAt);
  return ordered.slice(1).flatMap((second, n) => {
    const first = ordered[n];
    const areLate = [first, second].every((each) => each && each.milliseconds > wanted.withinMilliseconds);
    return first && areLate ? [[first, second]] : [];
  });
}

function duringAny(beats: readonly Beat[], others: readonly Beat[]): Beat[] {
  const endOf = ({ startedAt, milliseconds }: Beat) => startedAt + milliseconds;
  return beats.filter((beat) =>
    others.some((other) => beat.startedAt < endOf(other) && other.startedAt < endOf(beat)),
  );
}
