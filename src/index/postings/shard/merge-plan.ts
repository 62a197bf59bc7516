import { MAX_SEGMENT_CHUNKS, type Segment } from '../segment.js';

/** A memtable of at least this many chunks is made a segment: scoring them one by one takes some tens of microseconds. */
const MAX_MEMTABLE = 64;

/**
 * Returns the segments that become one with the memtable: from the smallest on, each that is no larger than all before it
 * together. So sizes grow like powers of two, and a chunk is written as often as its number has binary digits. Segments
 * that have lost half of their chunks are written anew.
 *
 * @param open the number of open chunks of the memtable
 * @param enough at least this many must be open, unless a segment is to be written anew
 * @returns null when nothing is to be done
 */
export function planMerge(
  segments: Iterable<Segment>,
  open: number,
  enough: number = MAX_MEMTABLE,
): readonly Segment[] | null {
  const ascending = [...segments].sort((a, b) => a.live - b.live);
  const merged: Segment[] = ascending.filter(isHalfGone);
  if (open < enough && merged.length === 0) return null;
  let total = open + merged.reduce((sum, { live }) => sum + live, 0);
  // Segments that do not fit the new one are left for the next merge.
  while (total > MAX_SEGMENT_CHUNKS && merged.length > 1) total -= merged.pop()?.live ?? 0;
  for (const segment of ascending) {
    if (isHalfGone(segment)) continue;
    if (segment.live > total || total + segment.live > MAX_SEGMENT_CHUNKS) break;
    merged.push(segment);
    total += segment.live;
  }
  return merged;
}

const isHalfGone = ({ live, slots }: Segment): boolean => live <= slots.length / 2;
