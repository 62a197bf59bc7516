/** Slots in an order that is restored when it is read, which is cheap because the input is nearly sorted. */
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
      if (added.size > 0) sorted = [...added, ...sorted].sort(compare);
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
