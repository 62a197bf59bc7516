import { at } from '../memory/at.js';

/** Slots in an order that is restored when it is read, which is cheap where few were added. */
export interface SortedSlots {
  add(slot: number): void;
  remove(slot: number): void;
  read(): readonly number[];
  clear(): void;
}

/** @param all returns all slots, for the first read; before that nothing is kept, since some mirrors are never listed */
export function createSortedSlots(
  compare: (a: number, b: number) => number,
  all: () => number[],
): SortedSlots {
  let sorted: number[] | null = null;
  const added = new Set<number>();
  const removed = new Set<number>();
  return {
    add: (slot) => {
      if (sorted) added.add(slot);
    },
    remove: (slot) => {
      if (!sorted) return;
      added.delete(slot);
      removed.add(slot);
    },
    read: () => {
      sorted ??= all().sort(compare);
      if (removed.size > 0) sorted = sorted.filter((slot) => !removed.has(slot));
      if (added.size > 0) sorted = withAdded(sorted, [...added].sort(compare), compare);
      added.clear();
      removed.clear();
      return sorted;
    },
    clear: () => {
      sorted = null;
      added.clear();
      removed.clear();
    },
  };
}

/** Puts a few slots at their places among many, without comparing the many with each other. Both are sorted. */
function withAdded(
  sorted: readonly number[],
  added: readonly number[],
  compare: (a: number, b: number) => number,
): number[] {
  const merged: number[] = [];
  let from = 0;
  for (const slot of added) {
    const end = firstBehind(sorted, from, (other) => compare(other, slot) > 0);
    for (; from < end; from += 1) merged.push(at(sorted, from));
    merged.push(slot);
  }
  for (; from < sorted.length; from += 1) merged.push(at(sorted, from));
  return merged;
}

function firstBehind(sorted: readonly number[], start: number, isBehind: (slot: number) => boolean): number {
  let [low, high] = [start, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBehind(at(sorted, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
}
