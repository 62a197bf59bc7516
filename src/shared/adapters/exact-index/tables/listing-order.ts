/** Document slots in an order that is restored when it is read; nearly sorted input is cheap to sort. */
export interface ListingOrder {
  add(slot: number): void;
  remove(slot: number): void;
  read(): readonly number[];
  clear(): void;
}

/** @param all slots of all documents: what the first read begins with, so that nothing is kept for mirrors never listed */
export function createListingOrder(
  compare: (a: number, b: number) => number,
  all: () => number[],
): ListingOrder {
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
