import type { Steps } from './steps.js';

/** Bits of a digit, and where the digits of a term begin. */
const DIGIT_BITS = 11;
const DIGITS = [0, DIGIT_BITS, 2 * DIGIT_BITS];
const VALUES = 2 ** DIGIT_BITS;

/**
 * Sorts terms, which are all different, by one digit after the other, the lowest first (radix sort). A step takes a
 * millisecond for a hundred thousand terms; the native sort takes ten for as many, and is one step.
 */
export function* sortTerms(terms: Uint32Array): Steps<Uint32Array> {
  let sorted = terms;
  for (const shift of DIGITS) {
    const starts = startsOf(sorted, shift);
    yield;
    const next = new Uint32Array(sorted.length);
    distribute(sorted, next, { starts, shift });
    sorted = next;
    yield;
  }
  return sorted;
}

/**
 * Returns the places where the terms of each value of the digit begin. Here and below, `?? 0` reads numbers that are known
 * to be there.
 */
function startsOf(terms: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(VALUES + 1);
  for (const term of terms) {
    const digit = (term >>> shift) & (VALUES - 1);
    starts[digit + 1] = (starts[digit + 1] ?? 0) + 1;
  }
  for (let digit = 1; digit < VALUES; digit += 1)
    starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0);
  return starts;
}

function distribute(
  terms: Uint32Array,
  sorted: Uint32Array,
  { starts, shift }: { readonly starts: Uint32Array; readonly shift: number },
): void {
  for (const term of terms) {
    const digit = (term >>> shift) & (VALUES - 1);
    const start = starts[digit] ?? 0;
    sorted[start] = term;
    starts[digit] = start + 1;
  }
}
