/** Document slots in an order that is restored when it is read; nearly sorted input is cheap to sort. */
export interface ListingOrder {
  add(slot: number): void;
  remove(slot: number): void;
  read(): readonly number[];
  clear(): void;
}

export function createListingOrder(compare: (a: number, b: number) => number): ListingOrder {
  let sorted: number[] = [];
  const added = new Set<number>();
  const removed = new Set<number>();
  return {
    add: (slot) => {
      added.add(slot);
    },
    remove: (slot) => {
      added.delete(slot);
      removed.add(slot);
    },
    read: () => {
      if (removed.size > 0) sorted = sorted.filter((slot) => !removed.has(slot));
      if (added.size > 0) sorted = [...added, ...sorted].sort(compare);
      added.clear();
      removed.clear();
      return sorted;
    },
    clear: () => {
      sorted = [];
      added.clear();
      removed.clear();
    },
  };
}
