import type { TermWeights } from '../scoring/terms.js';
import { lengthDamping } from '../scoring/bm25.js';
import { LIST } from './kernel.js';
import { spareOf, type Collector } from './collector.js';
import { MAX_LISTS } from './segment-columns.js';
import { highestShare, placeOf, WINDOW, type CompiledSegment, type Segment } from './segment.js';

/**
 * Scores as `scoreSegment` does, in compiled code: the kernel goes from window to window, and the chunks that it finds in
 * one are collected before it goes on, since this raises the threshold.
 *
 * @returns false, and collects nothing, where the segment has no kernel or the query more terms than the kernel takes
 */
export function scoreCompiled(segment: Segment, query: TermWeights, collector: Collector): boolean {
  const { compiled } = segment;
  if (!compiled || query.terms.length > MAX_LISTS) return false;
  const spare = spareOf(query.terms.length);
  const { lists, bound } = openLists(segment, compiled, query);
  if (lists === 0 || bound + spare < collector.threshold) return true;
  const fixed = lengthDamping(0, query.averageLength);
  const perTerm = lengthDamping(1, query.averageLength) - fixed;
  let window = 0;
  for (;;) {
    const threshold = Math.max(0, collector.threshold);
    const reached = compiled.advance(compiled.pointer, window, lists, threshold, spare, fixed, perTerm);
    if (reached < 0) return true;
    window = reached >>> 16;
    collectFound(segment, compiled, { base: window * WINDOW, size: reached & 0xffff, spare }, collector);
    window += 1;
  }
}

/**
 * Tells the kernel where the postings of each term are. @returns the number of terms that have any, and the most that they
 * add to a score
 */
function openLists(
  segment: Segment,
  { lists: { floats, integers } }: CompiledSegment,
  { terms, weights, averageLength }: TermWeights,
): { readonly lists: number; readonly bound: number } {
  let [lists, bound] = [0, 0];
  for (let i = 0; i < terms.length; i += 1) {
    const place = placeOf(segment, terms[i] ?? 0);
    if (place < 0) continue;
    // `?? 0`, here and below, reads numbers that are known to be there.
    const weight = weights[i] ?? 0;
    const most = weight * highestShare(segment.bounds, place, averageLength);
    const first = lists * LIST.words;
    floats[first + LIST.weight] = weight;
    floats[first + LIST.bound] = most;
    integers[first + LIST.table] = segment.tables[place] ?? -1;
    integers[first + LIST.next] = segment.starts[place] ?? 0;
    integers[first + LIST.end] = segment.starts[place + 1] ?? 0;
    lists += 1;
    bound += most;
  }
  return { lists, bound };
}

interface Found {
  /** The ordinal with which the window begins. */
  readonly base: number;
  readonly size: number;
  readonly spare: number;
}

function collectFound(
  { slots }: Segment,
  { found: { places, sums } }: CompiledSegment,
  { base, size, spare }: Found,
  collector: Collector,
): void {
  let { threshold } = collector;
  for (let i = 0; i < size; i += 1) {
    const sum = sums[i] ?? 0;
    if (sum + spare < threshold) continue;
    const slot = slots[base + (places[i] ?? 0)] ?? -1;
    if (slot < 0) continue;
    collector.collect(slot, sum);
    ({ threshold } = collector);
  }
}
