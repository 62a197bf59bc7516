import { lengthDamping } from '../scoring/score.js';
import type { TermWeights } from '../scoring/terms.js';
import { LIST } from './kernel.js';
import { MAX_LISTS } from './segment-columns.js';
import { highestShare, placeOf, WINDOW, type Segment, type CompiledSegment } from './segment.js';

/** Scores that are added up in another order differ in their last digits; bounds are compared with this much to spare. */
const SPARE = 1e-9;

/** The postings of one term of the query within a segment. */
interface TermList {
  readonly weight: number;
  /** The most that the term adds to the score of a chunk. */
  readonly bound: number;
  /** The place where its bounds by window begin; -1 when it has none. */
  readonly table: number;
  readonly end: number;
  /** The next posting. */
  next: number;
  /** The end of its postings in the window, and the most that it adds to the score of a chunk of the window. */
  windowEnd: number;
  windowBound: number;
}

/** Memory for one window, used again for the next. */
export interface Scratch {
  /** By place in the window: the sum so far, 0 where there is none. */
  readonly sums: Float64Array;
  /** The places that have a sum; `size` of them. */
  readonly touched: Uint16Array;
  size: number;
}

export function createScratch(): Scratch {
  return { sums: new Float64Array(WINDOW), touched: new Uint16Array(WINDOW), size: 0 };
}

/**
 * Collects every chunk of the segment whose score may reach the threshold, window by window as in MaxScore (Turtle and Flood,
 * "Query Evaluation: Strategies and Optimizations", 1995): in a window, terms that together cannot reach the threshold are
 * not read; a chunk that holds none of the others cannot be among the best.
 */
export function scoreSegment(
  segment: Segment,
  query: TermWeights,
  scratch: Scratch,
  collector: Collector,
): void {
  const lists = openLists(segment, query);
  const all = lists.reduce((sum, { bound }) => sum + bound, 0);
  if (lists.length === 0 || all + SPARE < collector.threshold) return;
  const fixed = lengthDamping(0, query.averageLength);
  const perTerm = lengthDamping(1, query.averageLength) - fixed;
  for (let window = 0; window < segment.windows; window += 1) {
    const sum = enterWindow(segment, lists, { window, averageLength: query.averageLength });
    if (sum > 0 && sum + SPARE >= collector.threshold) {
      lists.sort((a, b) => a.windowBound - b.windowBound);
      scoreWindow(segment, { lists, fixed, perTerm, base: window * WINDOW }, scratch, collector);
    }
    for (const list of lists) list.next = list.windowEnd;
  }
}

function openLists(segment: Segment, { terms, weights, averageLength }: TermWeights): TermList[] {
  const lists: TermList[] = [];
  for (let i = 0; i < terms.length; i += 1) {
    const place = placeOf(segment, terms[i]);
    if (place < 0) continue;
    const weight = weights[i];
    lists.push({
      weight,
      bound: weight * highestShare(segment.bounds, place, averageLength),
      table: segment.tables[place],
      end: segment.starts[place + 1],
      next: segment.starts[place],
      windowEnd: 0,
      windowBound: 0,
    });
  }
  return lists;
}

/** Finds the postings of each list in the window. @returns the most that all of them add to a score */
function enterWindow(
  { ordinals, windowEnds, windowBounds, windows }: Segment,
  lists: readonly TermList[],
  { window, averageLength }: { readonly window: number; readonly averageLength: number },
): number {
  const below = (window + 1) * WINDOW;
  let sum = 0;
  for (const list of lists) {
    if (list.table >= 0) {
      list.windowEnd = windowEnds[list.table + window];
      list.windowBound = list.weight * highestShare(windowBounds, list.table + window, averageLength);
    } else {
      let at = list.next;
      if (windows === 1) at = list.end;
      else while (at < list.end && ordinals[at] < below) at += 1;
      list.windowEnd = at;
      list.windowBound = at > list.next ? list.bound : 0;
    }
    sum += list.windowBound;
  }
  return sum;
}

interface WindowLists {
  /** Ascending by `windowBound`. */
  readonly lists: readonly TermList[];
  /** The ordinal with which the window begins. */
  readonly base: number;
  /** The damping that a count is compared with: the part of every chunk, and the part for each term of its length. */
  readonly fixed: number;
  readonly perTerm: number;
}

function scoreWindow(segment: Segment, window: WindowLists, scratch: Scratch, collector: Collector): void {
  const { lists } = window;
  const { threshold } = collector;
  let [first, unread] = [0, 0];
  for (; first < lists.length; first += 1) {
    const bound = lists[first].windowBound;
    if (unread + bound + SPARE >= threshold) break;
    unread += bound;
  }
  scratch.size = 0;
  for (const list of lists.slice(first)) addAll(segment, window, list, scratch);
  // The other lists are read for the chunks that may still reach the threshold, the heaviest first.
  for (const list of lists.slice(0, first).reverse()) {
    keepReaching(scratch, threshold - unread - SPARE);
    unread -= list.windowBound;
    if (list.windowEnd - list.next > POSTINGS_A_LOOKUP * scratch.size) lookUp(segment, window, list, scratch);
    else addToTouched(segment, window, list, scratch);
  }
  collectTouched(segment, window, scratch, collector);
}

/** Reading this many postings one after another takes as long as looking for the posting of one chunk. */
const POSTINGS_A_LOOKUP = 8;

/** Adds up the scores of all chunks of a list in the window. */
function addAll(
  segment: Segment,
  { base, fixed, perTerm }: WindowLists,
  list: TermList,
  scratch: Scratch,
): void {
  const { ordinals, counts, lengths } = segment;
  const { sums, touched } = scratch;
  const { weight, next, windowEnd } = list;
  let { size } = scratch;
  for (let at = next; at < windowEnd; at += 1) {
    const ordinal = ordinals[at];
    const place = ordinal - base;
    const count = counts[at];
    const before = sums[place];
    if (before === 0) {
      touched[size] = place;
      size += 1;
    }
    sums[place] = before + (weight * count) / (count + fixed + perTerm * lengths[ordinal]);
  }
  scratch.size = size;
}

/** Adds to the chunks that were touched, reading the whole list. */
function addToTouched(
  { ordinals, counts, lengths }: Segment,
  { base, fixed, perTerm }: WindowLists,
  { weight, next, windowEnd }: TermList,
  { sums }: Scratch,
): void {
  for (let at = next; at < windowEnd; at += 1) {
    const ordinal = ordinals[at];
    const before = sums[ordinal - base];
    if (before === 0) continue;
    const count = counts[at];
    sums[ordinal - base] = before + (weight * count) / (count + fixed + perTerm * lengths[ordinal]);
  }
}

/** Adds to the chunks that were touched, looking for each of them in the list. */
function lookUp(
  { ordinals, counts, lengths }: Segment,
  { base, fixed, perTerm }: WindowLists,
  { weight, next, windowEnd }: TermList,
  { sums, touched, size }: Scratch,
): void {
  for (let i = 0; i < size; i += 1) {
    const place = touched[i];
    const ordinal = base + place;
    let [from, to] = [next, windowEnd];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (ordinals[middle] < ordinal) from = middle + 1;
      else to = middle;
    }
    if (from === windowEnd || ordinals[from] !== ordinal) continue;
    const count = counts[from];
    sums[place] += (weight * count) / (count + fixed + perTerm * lengths[ordinal]);
  }
}

/** Drops the chunks whose sums are lower. */
function keepReaching(scratch: Scratch, least: number): void {
  const { sums, touched, size } = scratch;
  let kept = 0;
  for (let i = 0; i < size; i += 1) {
    const place = touched[i];
    if (sums[place] < least) {
      sums[place] = 0;
      continue;
    }
    touched[kept] = place;
    kept += 1;
  }
  scratch.size = kept;
}

function collectTouched(
  { slots }: Segment,
  { base }: WindowLists,
  { sums, touched, size }: Scratch,
  collector: Collector,
): void {
  let { threshold } = collector;
  for (let i = 0; i < size; i += 1) {
    const place = touched[i];
    const sum = sums[place];
    sums[place] = 0;
    if (sum + SPARE < threshold) continue;
    const slot = slots[base + place];
    if (slot < 0) continue;
    collector.collect(slot, sum);
    ({ threshold } = collector);
  }
}

/** The parts that the terms of a chunk add to a sum. */
export interface TermProducts {
  /** The product of a term, for each unit of its weight. */
  readonly of: (term: number) => number;
  /** The weight of a count in a chunk of a length. */
  readonly weigh: (count: number, length: number) => number;
}

/** Calls `tell` for every chunk of the segment that holds a term of a product other than 0, with the sum of its products. */
export function addUpSegment(
  { slots, lengths, terms, starts, ordinals, counts }: Segment,
  { of, weigh }: TermProducts,
  tell: (slot: number, sum: number) => void,
): void {
  const sums = new Float64Array(slots.length);
  for (let place = 0; place < terms.length; place += 1) {
    const product = of(terms[place]);
    if (product === 0) continue;
    const end = starts[place + 1];
    for (let at = starts[place]; at < end; at += 1) {
      const ordinal = ordinals[at];
      sums[ordinal] += product * weigh(counts[at], lengths[ordinal]);
    }
  }
  for (let ordinal = 0; ordinal < slots.length; ordinal += 1) {
    const slot = slots[ordinal];
    const sum = sums[ordinal];
    if (slot >= 0 && sum !== 0) tell(slot, sum);
  }
}

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
  const { lists, bound } = openCompiledLists(segment, compiled, query);
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
function openCompiledLists(
  segment: Segment,
  { lists: { floats, integers } }: CompiledSegment,
  { terms, weights, averageLength }: TermWeights,
): { readonly lists: number; readonly bound: number } {
  let [lists, bound] = [0, 0];
  for (let i = 0; i < terms.length; i += 1) {
    const place = placeOf(segment, terms[i]);
    if (place < 0) continue;
    const weight = weights[i];
    const most = weight * highestShare(segment.bounds, place, averageLength);
    const first = lists * LIST.words;
    floats[first + LIST.weight] = weight;
    floats[first + LIST.bound] = most;
    integers[first + LIST.table] = segment.tables[place];
    integers[first + LIST.next] = segment.starts[place];
    integers[first + LIST.end] = segment.starts[place + 1];
    lists += 1;
    bound += most;
  }
  return { lists, bound };
}

interface FoundWindow {
  /** The ordinal with which the window begins. */
  readonly base: number;
  readonly size: number;
  readonly spare: number;
}

function collectFound(
  { slots }: Segment,
  { found: { places, sums } }: CompiledSegment,
  { base, size, spare }: FoundWindow,
  collector: Collector,
): void {
  let { threshold } = collector;
  for (let i = 0; i < size; i += 1) {
    const sum = sums[i];
    if (sum + spare < threshold) continue;
    const slot = slots[base + places[i]];
    if (slot < 0) continue;
    collector.collect(slot, sum);
    ({ threshold } = collector);
  }
}

/** Gets the chunks that may be among the best, and says how good a chunk has to be. */
export interface Collector {
  readonly threshold: number;
  /** @param sum the score, but for its last digits: it differs by `spareOf` at most */
  collect(slot: number, sum: number): void;
}

/**
 * Returns the greatest difference between the sum of a query's terms and the score, which is 1 at most: sums are floats of
 * 32 bits that are added up in another order. Each of the terms is rounded a few times, and each addition once.
 */
export const spareOf = (terms: number): number => (terms + 8) * 2 ** -23;
