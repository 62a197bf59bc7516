import { placeOf, type Segment } from './segment.js';

/** The live chunks of a segment: a chunk that is gone has the slot -1, while its postings stay until the next merge. */
export type LiveDocs = Pick<Segment, 'slots' | 'live' | 'liveFrequencies'>;

/** Returns the number of live chunks that hold a term. */
export function liveFrequencyOf(segment: Segment, term: number): number {
  const place = placeOf(segment, term);
  if (place < 0) return 0;
  const { starts, ordinals, slots, live, liveFrequencies } = segment;
  const [start, end] = [starts[place] ?? 0, starts[place + 1] ?? 0];
  if (live === slots.length) return end - start;
  const known = liveFrequencies.get(place);
  if (known !== undefined) return known;
  let frequency = 0;
  // `?? 0` reads numbers that are known to be there, because a check would slow the loop down.
  for (let at = start; at < end; at += 1) if ((slots[ordinals[at] ?? 0] ?? -1) >= 0) frequency += 1;
  liveFrequencies.set(place, frequency);
  return frequency;
}

/** Takes a chunk that is gone out of the live ones. */
export function markDeleted(docs: LiveDocs, ordinal: number): void {
  docs.slots[ordinal] = -1;
  docs.live -= 1;
  docs.liveFrequencies.clear();
}
