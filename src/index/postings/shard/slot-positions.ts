import { growColumn, readColumn } from '../../memory/columns.js';
import type { Segment } from '../segment.js';

/** The positions of the postings of each slot: in a segment, or in the memtable. */
export interface SlotPositions {
  /** Null for a slot that is in no segment. */
  segmentOf(slot: number): Segment | null;
  /** The ordinal in the segment; or, as a shard counts it, the position in the memtable. */
  positionOf(slot: number): number;
  set(slot: number, segment: Segment | null, position: number): void;
  /** Makes room for a segment, and forgets one. */
  enter(segment: Segment): void;
  leave(segment: Segment): void;
}

/** Kept in columns by slot, since an object for each chunk would take several times the memory. */
export function createSlotPositions(): SlotPositions {
  let numbers = new Int32Array(0);
  let positions = new Int32Array(0);
  const segments: (Segment | null)[] = [];
  const known = new Map<Segment, number>();
  const freed: number[] = [];
  return {
    // A 0, and a slot beyond the end of the column, mean that it is in no segment.
    segmentOf: (slot) => segments[readColumn(numbers, slot) - 1] ?? null,
    positionOf: (slot) => readColumn(positions, slot),
    set: (slot, segment, position) => {
      numbers = growColumn(numbers, slot + 1);
      positions = growColumn(positions, slot + 1);
      numbers[slot] = segment ? (known.get(segment) ?? -1) + 1 : 0;
      positions[slot] = position;
    },
    enter: (segment) => {
      const number = freed.pop() ?? segments.length;
      segments[number] = segment;
      known.set(segment, number);
    },
    leave: (segment) => {
      const number = known.get(segment);
      if (number === undefined) return;
      segments[number] = null;
      known.delete(segment);
      freed.push(number);
    },
  };
}
