import type { Steps } from './steps.js';
import { widenBounds, WINDOW, type Segment } from './segment.js';

/** One step goes over this many postings, which takes some tenths of a millisecond. */
const POSTINGS_AT_ONCE = 16_384;

/** Fills the bounds of all terms, and of the windows of common terms, reading the postings in their order. */
export function* boundTerms(segment: Segment): Steps<void> {
  const { terms, starts } = segment;
  let place = 0;
  while (place < terms.length) {
    const enough = (starts[place] ?? 0) + POSTINGS_AT_ONCE;
    place = boundUntil(segment, place, enough);
    yield;
  }
}

/** @returns the first place that is left: the place of the first term whose postings begin at `enough` or after it */
function boundUntil(segment: Segment, from: number, enough: number): number {
  const { terms, starts, tables } = segment;
  let place = from;
  for (; place < terms.length && (starts[place] ?? 0) < enough; place += 1) {
    if ((tables[place] ?? -1) < 0) boundTerm(segment, place);
    else boundWindows(segment, place);
  }
  return place;
}

/** Here and below, `?? 0` reads numbers that are known to be there, because a check would slow the loops down. */
function boundTerm({ starts, ordinals, counts, lengths, bounds }: Segment, place: number): void {
  const end = starts[place + 1] ?? 0;
  for (let at = starts[place] ?? 0; at < end; at += 1)
    widenBounds(bounds, place, counts[at] ?? 0, lengths[ordinals[at] ?? 0] ?? 0);
}

function boundWindows(segment: Segment, place: number): void {
  const { starts, ordinals, counts, lengths, tables, windows, bounds, windowBounds, windowEnds } = segment;
  const table = tables[place] ?? 0;
  const end = starts[place + 1] ?? 0;
  let at = starts[place] ?? 0;
  for (let window = 0; window < windows; window += 1) {
    const below = (window + 1) * WINDOW;
    const entry = table + window;
    for (; at < end && (ordinals[at] ?? 0) < below; at += 1)
      widenBounds(windowBounds, entry, counts[at] ?? 0, lengths[ordinals[at] ?? 0] ?? 0);
    windowEnds[entry] = at;
    widenBounds(bounds, place, windowBounds.counts[entry] ?? 0, windowBounds.lengths[entry] ?? 0);
  }
}
