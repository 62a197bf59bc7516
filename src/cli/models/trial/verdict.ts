/** The findings of a trial of a model. */
export interface Verdict {
  readonly isSane: boolean;
  /** Lines for the user, each with its subject in front. */
  readonly lines: readonly string[];
}

export function sanityLine(isSane: boolean, shown: string): string {
  return `  sanity  ${isSane ? 'pass' : 'FAIL'}: ${shown}`;
}

export const inSeconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(2);
/** Three digits, since no measurement here has more. */
export const perSecond = (count: number, milliseconds: number) =>
  Number(((count * 1_000) / milliseconds).toPrecision(3)).toLocaleString('en');

/** Returns the inner product of two vectors. A missing vector has nothing in common with any. */
export const dot = (one: ArrayLike<number> = [], other: ArrayLike<number> = []): number =>
  Array.from(one).reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
