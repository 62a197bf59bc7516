import { MAX_SEGMENT_CHUNKS, type Segment } from '../segment.js';

/** So many chunks wait before they are made a segment: scoring them one by one takes some tens of microseconds. */
const MAX_WAITING = 64;

/**
 * Which segments become one with the chunks that wait: those that are no larger than all before them together, from the
 * smallest on. So sizes grow like powers of two, and a chunk is written as often as its number has binary digits. Segments
 * that have lost half of their chunks are written anew.
 *
 * @param waiting how many chunks wait
 * @param enough so many must wait, unless a segment is to be written anew
 * @returns null when nothing is to be done
 */
export function planMerge(
  segments: Iterable<Segment>,
  waiting: number,
  enough: number = MAX_WAITING,
): readonly Segment[] | null {
  const ascending = [...segments].sort((a, b) => a.live - b.live);
  const merged: Segment[] = ascending.filter(isHalfGone);
  if (waiting < enough && merged.length === 0) return null;
  let total = waiting + merged.reduce((sum, { live }) => sum + live, 0);
  // What does not fit one segment is left for the next merge.
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
