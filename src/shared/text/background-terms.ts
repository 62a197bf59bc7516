import { existsSync, readFileSync } from 'node:fs';
import { makeBackgroundRates } from './background-words.js';

/** Terms and their rates in turns: `scripts/build-assets.mjs` makes it, so that a process has them within milliseconds. */
const BUILT = new URL('./background.rates', import.meta.url);

const rates = existsSync(BUILT) ? readRates() : makeBackgroundRates();

function readRates(): ReadonlyMap<number, number> {
  const { buffer, byteOffset, byteLength } = readFileSync(BUILT);
  const numbers = new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT);
  const read = new Map<number, number>();
  for (let at = 0; at < numbers.length; at += 2) read.set(numbers[at], numbers[at + 1]);
  return read;
}

/** The share of passages of general text that hold the term; 0 when it is too rare to be in the table. */
export function backgroundRate(term: number): number {
  return rates.get(term) ?? 0;
}
