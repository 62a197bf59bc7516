/**
 * Adds up the scores of a segment's chunks, in AssemblyScript, as score-segment.ts does it in TypeScript: window by window
 * as in MaxScore. scripts/build-assets.mjs compiles it to kernel.wasm. Sums are floats of 32 bits, so that the sums of a
 * window fit the first cache, and four are compared at once.
 *
 * kernel.ts names the fields of both classes in the same order, and segment-columns.ts places them in memory.
 */

/** Ordinals of a window, as in segment.ts. */
const WINDOW: u32 = 4096;
/** Reading this many postings one after another takes as long as looking for the posting of one chunk. */
const POSTINGS_A_LOOKUP: u32 = 24;
/** A chunk with a sum below this holds none of the words. */
const MIN: f32 = 1e-30;
const DONE: u32 = 0xffff_ffff;

/** The places where the columns of a segment begin, and the memory that is used again for each window. */
@unmanaged
class Segment {
  windows: u32;
  ordinals: usize;
  counts: usize;
  lengths: usize;
  windowEnds: usize;
  boundCounts: usize;
  boundLengths: usize;
  lists: usize;
  /** Pointers to the lists, ascending by `windowBound`. */
  order: usize;
  /** By place in the window; all 0 between two windows. */
  sums: usize;
  /** The chunks that were found: their places in the window, ascending, and their sums. */
  places: usize;
  found: usize;
}

/** The postings of one term of the query. */
@unmanaged
class List {
  weight: f32;
  /** The most that the term adds to the score of a chunk. */
  bound: f32;
  /** The place where its bounds by window begin; -1 when it has none. */
  table: i32;
  next: u32;
  end: u32;
  windowEnd: u32;
  windowBound: f32;
}

function listAt(segment: Segment, index: u32): List {
  return changetype<List>(segment.lists + <usize>index * offsetof<List>());
}

function ordered(segment: Segment, index: u32): List {
  return changetype<List>(load<usize>(segment.order + ((<usize>index) << 2)));
}

function ordinalOf(segment: Segment, at: u32): u32 {
  return load<u16>(segment.ordinals + ((<usize>at) << 1));
}

/**
 * Goes on to the next window that has chunks whose score may reach the threshold.
 *
 * @param window the first one to look at
 * @param count the number of lists
 * @param spare the greatest difference between a sum and the score
 * @param fixed the part of the damping of every chunk, which a count is compared with
 * @param perTerm the part of the damping for each term of its length
 * @returns the window in the upper half and the number of chunks that were found in the lower one, or `DONE`
 */
export function advance(
  segment: Segment,
  window: u32,
  count: u32,
  threshold: f32,
  spare: f32,
  fixed: f32,
  perTerm: f32,
): u32 {
  for (; window < segment.windows; window++) {
    const bound = enterWindow(segment, window, count, fixed, perTerm);
    let size: u32 = 0;
    if (bound > 0 && bound + spare >= threshold)
      size = scoreWindow(segment, window * WINDOW, count, threshold - spare, fixed, perTerm);
    for (let i: u32 = 0; i < count; i++) {
      const list = listAt(segment, i);
      list.next = list.windowEnd;
    }
    if (size > 0) return (window << 16) | size;
  }
  return DONE;
}

/** Finds the postings of each list in the window, and orders the lists. Returns the most that all add to a score. */
function enterWindow(segment: Segment, window: u32, count: u32, fixed: f32, perTerm: f32): f32 {
  let sum: f32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const list = listAt(segment, i);
    if (list.table >= 0) enterTable(segment, list, <usize>(<u32>list.table + window), fixed, perTerm);
    else enterRange(segment, list, (window + 1) * WINDOW);
    sum += list.windowBound;
    // The first window begins with this order; the others begin with the order of the window before, which is nearly
    // theirs.
    if (window == 0) store<usize>(segment.order + ((<usize>i) << 2), changetype<usize>(list));
  }
  orderLists(segment, count);
  return sum;
}

function orderLists(segment: Segment, count: u32): void {
  for (let i: u32 = 1; i < count; i++) {
    const list = ordered(segment, i);
    let place = segment.order + ((<usize>i) << 2);
    for (; place > segment.order; place -= 4) {
      const before = load<usize>(place - 4);
      if (changetype<List>(before).windowBound <= list.windowBound) break;
      store<usize>(place, before);
    }
    store<usize>(place, changetype<usize>(list));
  }
}

function enterTable(segment: Segment, list: List, entry: usize, fixed: f32, perTerm: f32): void {
  list.windowEnd = load<u32>(segment.windowEnds + (entry << 2));
  const count = <f32>load<u8>(segment.boundCounts + entry);
  const length = <f32>load<u16>(segment.boundLengths + (entry << 1));
  list.windowBound = count == 0 ? 0 : (list.weight * count) / (count + (fixed + perTerm * length));
}

function enterRange(segment: Segment, list: List, below: u32): void {
  let at = list.next;
  while (at < list.end && ordinalOf(segment, at) < below) at++;
  list.windowEnd = at;
  list.windowBound = at > list.next ? list.bound : 0;
}

/** Finds the chunks of the window whose sum is at least `least`. Returns how many. */
function scoreWindow(segment: Segment, base: u32, count: u32, least: f32, fixed: f32, perTerm: f32): u32 {
  let first: u32 = 0;
  let unread: f32 = 0;
  for (; first < count; first++) {
    const bound = ordered(segment, first).windowBound;
    if (unread + bound >= least) break;
    unread += bound;
  }
  const sums = segment.sums - ((<usize>base) << 2);
  for (let i = first; i < count; i++) addAll(segment, ordered(segment, i), sums, fixed, perTerm);
  // The other lists are read for the chunks that may still reach it, the heaviest first: as a whole while these are many.
  let left = first;
  for (; left > 0; left--) {
    const list = ordered(segment, left - 1);
    const size = countReaching(segment, max(MIN, least - unread));
    if (list.windowEnd - list.next > POSTINGS_A_LOOKUP * size) break;
    unread -= list.windowBound;
    addAll(segment, list, sums, fixed, perTerm);
  }
  let size = collect(segment, max(MIN, least - unread));
  for (; left > 0 && size > 0; left--) {
    const list = ordered(segment, left - 1);
    unread -= list.windowBound;
    lookUp(segment, list, base, size, fixed, perTerm);
    size = keepReaching(segment, size, max(MIN, least - unread));
  }
  for (let i: usize = 0; i < <usize>size; i++) {
    const place = <usize>load<u16>(segment.places + (i << 1));
    store<f32>(segment.found + (i << 2), load<f32>(segment.sums + (place << 2)));
  }
  memory.fill(segment.sums, 0, (<usize>WINDOW) << 2);
  return size;
}

/** Adds up the scores of all chunks of a list in the window, four at a time. `sums` are by ordinal here. */
function addAll(segment: Segment, list: List, sums: usize, fixed: f32, perTerm: f32): void {
  const weights = f32x4.splat(list.weight);
  let at = list.next;
  for (; at + 4 <= list.windowEnd; at += 4) {
    const ordinals = load<u64>(segment.ordinals + ((<usize>at) << 1));
    const first = (<usize>(ordinals & 0xffff)) << 2;
    const second = (<usize>((ordinals >> 16) & 0xffff)) << 2;
    const third = (<usize>((ordinals >> 32) & 0xffff)) << 2;
    const fourth = (<usize>(ordinals >> 48)) << 2;
    let lengths = v128.load32_zero(segment.lengths + first);
    lengths = v128.load_lane<u32>(segment.lengths + second, lengths, 1);
    lengths = v128.load_lane<u32>(segment.lengths + third, lengths, 2);
    lengths = v128.load_lane<u32>(segment.lengths + fourth, lengths, 3);
    const bytes = v128.load32_zero(segment.counts + at);
    const counts = f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(bytes)));
    const longer = f32x4.mul(f32x4.splat(perTerm), f32x4.convert_i32x4_u(lengths));
    const damped = f32x4.add(counts, f32x4.add(f32x4.splat(fixed), longer));
    const shares = f32x4.div(f32x4.mul(weights, counts), damped);
    store<f32>(sums + first, load<f32>(sums + first) + f32x4.extract_lane(shares, 0));
    store<f32>(sums + second, load<f32>(sums + second) + f32x4.extract_lane(shares, 1));
    store<f32>(sums + third, load<f32>(sums + third) + f32x4.extract_lane(shares, 2));
    store<f32>(sums + fourth, load<f32>(sums + fourth) + f32x4.extract_lane(shares, 3));
  }
  for (; at < list.windowEnd; at++) addOne(segment, list, at, sums, fixed, perTerm);
}

function addOne(segment: Segment, list: List, at: u32, sums: usize, fixed: f32, perTerm: f32): void {
  const offset = (<usize>ordinalOf(segment, at)) << 2;
  const count = <f32>load<u8>(segment.counts + at);
  const length = <f32>load<u32>(segment.lengths + offset);
  const share = (list.weight * count) / (count + (fixed + perTerm * length));
  store<f32>(sums + offset, load<f32>(sums + offset) + share);
}

/** Counts the sums that are at least `least`, sixteen at a time. A comparison that holds gives -1. */
function countReaching(segment: Segment, least: f32): u32 {
  const limit = f32x4.splat(least);
  let counts = i32x4.splat(0);
  for (let from = segment.sums; from < segment.sums + ((<usize>WINDOW) << 2); from += 64) {
    const first = i32x4.add(f32x4.ge(v128.load(from), limit), f32x4.ge(v128.load(from, 16), limit));
    const second = i32x4.add(f32x4.ge(v128.load(from, 32), limit), f32x4.ge(v128.load(from, 48), limit));
    counts = i32x4.sub(counts, i32x4.add(first, second));
  }
  const halves = i32x4.add(
    counts,
    i8x16.shuffle(counts, counts, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7),
  );
  return i32x4.extract_lane(halves, 0) + i32x4.extract_lane(halves, 1);
}

/** Collects the places whose sums are at least `least`, sixteen at a time. Returns how many. */
function collect(segment: Segment, least: f32): u32 {
  const limit = f32x4.splat(least);
  let to = segment.places;
  for (let place: u32 = 0; place < WINDOW; place += 16) {
    const from = segment.sums + ((<usize>place) << 2);
    const first = f32x4.ge(v128.load(from), limit);
    const second = f32x4.ge(v128.load(from, 16), limit);
    const third = f32x4.ge(v128.load(from, 32), limit);
    const fourth = f32x4.ge(v128.load(from, 48), limit);
    if (!v128.any_true(v128.or(v128.or(first, second), v128.or(third, fourth)))) continue;
    const narrow = i16x8.narrow_i32x4_s(first, second);
    let bits: u32 = i8x16.bitmask(i8x16.narrow_i16x8_s(narrow, i16x8.narrow_i32x4_s(third, fourth)));
    for (; bits != 0; bits &= bits - 1) {
      store<u16>(to, place + ctz(bits));
      to += 2;
    }
  }
  return (<u32>(to - segment.places)) >> 1;
}

/** Adds to the chunks that were collected, looking for each of them from the one before it on, in growing strides. */
function lookUp(segment: Segment, list: List, base: u32, size: u32, fixed: f32, perTerm: f32): void {
  const sums = segment.sums - ((<usize>base) << 2);
  const end = list.windowEnd;
  let at = list.next;
  for (let i: u32 = 0; i < size && at < end; i++) {
    const ordinal = base + <u32>load<u16>(segment.places + ((<usize>i) << 1));
    let to = at;
    for (let stride: u32 = 1; to < end && ordinalOf(segment, to) < ordinal; stride <<= 1) {
      at = to + 1;
      to += stride;
    }
    if (to > end) to = end;
    while (at < to) {
      const middle = (at + to) >> 1;
      if (ordinalOf(segment, middle) < ordinal) at = middle + 1;
      else to = middle;
    }
    if (at < end && ordinalOf(segment, at) == ordinal) addOne(segment, list, at, sums, fixed, perTerm);
  }
}

/** Drops the chunks whose sums are lower. Returns how many are left. */
function keepReaching(segment: Segment, size: u32, least: f32): u32 {
  let to = segment.places;
  for (let i: u32 = 0; i < size; i++) {
    const place = load<u16>(segment.places + ((<usize>i) << 1));
    store<u16>(to, place);
    if (load<f32>(segment.sums + ((<usize>place) << 2)) >= least) to += 2;
  }
  return (<u32>(to - segment.places)) >> 1;
}
