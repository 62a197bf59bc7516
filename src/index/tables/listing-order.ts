import { at } from '../../shared/at.js';
import {
  comparePlaces,
  listValue,
  type ListOrder,
  type ListPosition,
  type Placed,
} from '../../shared/documents/list-order.js';
import type { MirroredDocument } from './document.js';
import { createSortedSlots, type SortedSlots } from './sorted-slots.js';

/** Document slots in the orders in which lists show them. An order is kept from the first time on that it is asked for. */
export interface ListingOrders {
  add(slot: number): void;
  remove(slot: number): void;
  /** Must be called when the document of a slot is another one than before. */
  change(slot: number): void;
  read(order: ListOrder): readonly number[];
  clear(): void;
}

/**
 * @param documents indexed by document slot
 * @param all returns all slots, for the first read of each order
 */
export function createListingOrders(
  documents: readonly (MirroredDocument | undefined)[],
  all: () => number[],
): ListingOrders {
  const orders = new Map<string, { readonly by: ListOrder['by']; readonly slots: SortedSlots }>();
  const { placeAt, forget, clear } = createPlaces(documents);
  const slotsOf = (order: ListOrder): SortedSlots => {
    const name = `${order.by} ${String(order.isDescending)}`;
    const known = orders.get(name);
    if (known) return known.slots;
    const compare = (a: number, b: number) => comparePlaces(placeAt(a, order), placeAt(b, order), order);
    const slots = createSortedSlots(compare, all);
    orders.set(name, { by: order.by, slots });
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
      for (const { by, slots } of orders.values()) {
        // The time of its creation stays.
        if (by === 'created') continue;
        slots.remove(slot);
        slots.add(slot);
      }
    },
    read: (order) => slotsOf(order).read(),
    clear: () => {
      clear();
      for (const { slots } of orders.values()) slots.clear();
    },
  };
}

/** What documents are placed by, by slot, where an order has needed it. */
function createPlaces(documents: readonly (MirroredDocument | undefined)[]) {
  const values: Readonly<Record<ListOrder['by'], (string | undefined)[]>> = {
    created: [],
    updated: [],
    name: [],
  };
  return {
    placeAt: (slot: number, { by }: ListOrder): Placed => {
      const document = at(documents, slot);
      return { id: document.id, value: (values[by][slot] ??= listValue(document, by)) };
    },
    forget: (slot: number): void => {
      for (const of of Object.values(values)) if (slot < of.length) of[slot] = undefined;
    },
    clear: (): void => {
      for (const of of Object.values(values)) of.length = 0;
    },
  };
}

export const placeOf = (document: MirroredDocument, { by }: ListOrder): Placed => ({
  id: document.id,
  value: listValue(document, by),
});

/** Returns where in the order the documents begin that come after a place. */
export function firstAfter(
  slots: readonly number[],
  documents: readonly (MirroredDocument | undefined)[],
  { after, order }: { readonly after: ListPosition; readonly order: ListOrder },
): number {
  let [low, high] = [0, slots.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = placeOf(at(documents, at(slots, middle)), order);
    if (comparePlaces(place, after, order) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
