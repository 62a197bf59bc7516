import { packedLength, packedTerms } from '../../index/index.js';
import { at, valueOf, addTo } from '../at.js';

/** The terms of a batch of chunks. They are counted and forgotten in parts. */
export interface BatchTerms {
  readonly chunks: number;
  /** The occurrences of all terms in all chunks. */
  readonly length: number;
  /** Every term once, ascending, and in the second list how many of the chunks hold it. */
  readonly terms: readonly number[];
  readonly frequencies: readonly number[];
}

/** The owner whose term statistics hold a batch. A count that is under way holds the terms less than `below`. */
export type CountState =
  | { readonly kind: 'none' }
  /** It is decided that nobody's statistics hold it, since the owner may not read the document. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'counted'; readonly owner: string }
  | { readonly kind: 'counting' | 'forgetting'; readonly owner: string; readonly below: number };

/** Tells whether somebody's statistics hold the batch or a part of it. */
export const isHeld = (state: CountState): state is Extract<CountState, { readonly owner: string }> =>
  state.kind !== 'none' && state.kind !== 'nobody';

/** Tells whether nothing is left to do for a batch that is to be counted for `owner`, or for nobody when null. */
export function isSettled(state: CountState, owner: string | null): boolean {
  return owner === null ? state.kind === 'nobody' : state.kind === 'counted' && state.owner === owner;
}

/** One step of a count: the state before and after, and the change of the owner's statistics. */
export interface CountStep {
  readonly from: CountState;
  readonly to: CountState;
  /** Null when nobody's statistics change. */
  readonly owner: string | null;
  readonly sign: 1 | -1;
  /**
   * The chunks and their length are added with the first part and removed with the last, so
   * that a term is never in more chunks than there are.
   */
  readonly chunks: number;
  readonly length: number;
  readonly terms: readonly number[];
  readonly frequencies: readonly number[];
}

/** The most terms of a step; each takes Redis two to five microseconds. */
export const TERMS_AT_ONCE = 2_000;

export function sumTerms(packed: readonly Uint8Array[]): BatchTerms {
  const length = packed.reduce((sum, each) => sum + packedLength(each), 0);
  const [only, ...others] = packed;
  if (only && others.length === 0) {
    // Most documents have one chunk.
    const terms = packedTerms(only);
    return { chunks: 1, length, terms, frequencies: terms.map(() => 1) };
  }
  const counts = new Map<number, number>();
  for (const each of packed) {
    for (const term of packedTerms(each)) addTo(counts, term);
  }
  const terms = [...Uint32Array.from(counts.keys()).sort()];
  return { chunks: packed.length, length, terms, frequencies: terms.map((term) => valueOf(counts, term)) };
}

/**
 * Returns the next step on the way to a batch that is counted for `owner`, or for nobody; null when it is. A batch that is
 * being forgotten, or is counted for another owner, is forgotten first.
 */
export function settleStep(batch: BatchTerms, state: CountState, owner: string | null): CountStep | null {
  if (isSettled(state, owner)) return null;
  if (isHeld(state) && (state.owner !== owner || state.kind === 'forgetting'))
    return forgetStep(batch, state);
  if (owner === null) return settleForNobody(state);
  const isFirst = state.kind !== 'counting';
  const start = isFirst ? 0 : firstAtLeast(batch.terms, state.below);
  const below = batch.terms[start + TERMS_AT_ONCE];
  return {
    from: state,
    owner,
    sign: 1,
    chunks: isFirst ? batch.chunks : 0,
    length: isFirst ? batch.length : 0,
    to: below === undefined ? { kind: 'counted', owner } : { kind: 'counting', owner, below },
    ...cut(batch, start, start + TERMS_AT_ONCE),
  };
}

/** The next step on the way to a batch that nobody's statistics hold; null when nobody's do. */
export function forgetStep(batch: BatchTerms, state: CountState): CountStep | null {
  if (!isHeld(state)) return null;
  const end = state.kind === 'counted' ? batch.terms.length : firstAtLeast(batch.terms, state.below);
  const start = Math.max(0, end - TERMS_AT_ONCE);
  const isLast = start === 0;
  return {
    from: state,
    owner: state.owner,
    sign: -1,
    chunks: isLast ? batch.chunks : 0,
    length: isLast ? batch.length : 0,
    to: isLast
      ? { kind: 'nobody' }
      : { kind: 'forgetting', owner: state.owner, below: at(batch.terms, start) },
    ...cut(batch, start, end),
  };
}

const settleForNobody = (from: CountState): CountStep => ({
  from,
  to: { kind: 'nobody' },
  owner: null,
  sign: 1,
  chunks: 0,
  length: 0,
  terms: [],
  frequencies: [],
});

const cut = ({ terms, frequencies }: BatchTerms, start: number, end: number) => ({
  terms: terms.slice(start, end),
  frequencies: frequencies.slice(start, end),
});

/** The index of the first of ascending `terms` that is at least `least`; their number when there is none. */
function firstAtLeast(terms: readonly number[], least: number): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(terms, middle) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
