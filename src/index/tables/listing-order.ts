import { at } from '../../shared/at.js';
import type { Placed, Sort } from './app.js';

/** Document slots in the orders in which lists show them. An order is kept from the first time on that it is asked for. */
export interface ListingOrders<Fields> {
  add(slot: number): void;
  remove(slot: number): void;
  /** Must be called when the document of a slot is another one than before. */
  change(slot: number): void;
  read(sort: Sort<Fields>): readonly number[];
  clear(): void;
}

/** The properties of a document that orders need. */
interface Listed<Fields> {
  readonly id: string;
  readonly fields: Fields;
}

type Documents<Fields> = readonly (Listed<Fields> | undefined)[];

/**
 * @param documents indexed by document slot
 * @param all returns all slots, for the first read of each order
 */
export function createListingOrders<Fields>(
  documents: Documents<Fields>,
  all: () => number[],
): ListingOrders<Fields> {
  const orders = new Map<string, { readonly sort: Sort<Fields>; readonly slots: SortedSlots }>();
  const { placeAt, forget, clear } = createPlaces(documents);
  const slotsOf = (sort: Sort<Fields>): SortedSlots => {
    const known = orders.get(sort.key);
    if (known) return known.slots;
    const slots = createSortedSlots((a, b) => sort.compare(placeAt(a, sort), placeAt(b, sort)), all);
    orders.set(sort.key, { sort, slots });
    return slots;
  };
  return {
    add: (slot) => {
      for (const { slots } of orders.values()) slots.add(slot);
    },
    remove: (slot) => {
      forget(slot);
      for (const { slots } of orders.values()) slots.remove(slot);
    },
    change: (slot) => {
      forget(slot);
      for (const { sort, slots } of orders.values()) {
        if (sort.isFixed) continue;
        slots.remove(slot);
        slots.add(slot);
      }
    },
    read: (sort) => slotsOf(sort).read(),
    clear: () => {
      clear();
      for (const { slots } of orders.values()) slots.clear();
    },
  };
}

/** Holds the values that documents are placed by, by slot, where an order has needed them. */
function createPlaces<Fields>(documents: Documents<Fields>) {
  const values = new Map<string, (string | undefined)[]>();
  const valuesOf = (field: string): (string | undefined)[] => {
    const known = values.get(field) ?? [];
    values.set(field, known);
    return known;
  };
  return {
    placeAt: (slot: number, { field, valueOf }: Sort<Fields>): Placed => {
      const { id, fields } = at(documents, slot);
      return { id, value: (valuesOf(field)[slot] ??= valueOf(fields)) };
    },
    forget: (slot: number): void => {
      for (const of of values.values()) if (slot < of.length) of[slot] = undefined;
    },
    clear: (): void => {
      values.clear();
    },
  };
}

export const placeOf = <Fields>({ id, fields }: Listed<Fields>, { valueOf }: Sort<Fields>): Placed => ({
  id,
  value: valueOf(fields),
});

/** Returns where in the order the documents begin that come after a place. */
export function firstAfter<Fields>(
  slots: readonly number[],
  documents: Documents<Fields>,
  { after, sort }: { readonly after: Placed; readonly sort: Sort<Fields> },
): number {
  let [low, high] = [0, slots.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = placeOf(at(documents, at(slots, middle)), sort);
    if (sort.compare(place, after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Slots in an order that is restored when it is read, which is cheap where few were added. */
interface SortedSlots {
  add(slot: number): void;
  remove(slot: number): void;
  read(): readonly number[];
  clear(): void;
}

/** @param all returns all slots, for the first read; before that nothing is kept, since some mirrors are never listed */
function createSortedSlots(compare: (a: number, b: number) => number, all: () => number[]): SortedSlots {
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
