/**
 * Stops reading an iterator and passes `reason` on to its producer.
 * @throws an error of the producer instead of `reason`
 */
export async function abandonIterator(iterator: AsyncIterator<unknown>, reason: unknown): Promise<void> {
  if (!iterator.throw) {
    await iterator.return?.();
    return;
  }
  try {
    await iterator.throw(reason);
  } catch (error) {
    // A generator that does not catch the reason rethrows it.
    if (error !== reason) throw error;
  }
}

/** Applies `change` to each item. Abandoning the result abandons `items`, even before the first item was read. */
export function mapIterable<Item, Changed>(
  items: AsyncIterable<Item>,
  change: (item: Item) => Changed,
): AsyncIterable<Changed> {
  const iterator = items[Symbol.asyncIterator]();
  const done = { done: true, value: undefined } as const;
  const changed: AsyncIterator<Changed> = {
    next: async () => {
      const item = await iterator.next();
      return item.done === true ? done : { done: false, value: change(item.value) };
    },
    return: async () => {
      await iterator.return?.();
      return done;
    },
    throw: async (reason: unknown) => {
      await abandonIterator(iterator, reason);
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => changed };
}
