/** Ends a stream that is read no further, and tells its producer why. @throws what the producer throws besides */
export async function leaveStream(iterator: AsyncIterator<unknown>, reason: unknown): Promise<void> {
  if (!iterator.throw) {
    await iterator.return?.();
    return;
  }
  try {
    await iterator.throw(reason);
  } catch (error) {
    // A generator that does not mind passes it on.
    if (error !== reason) throw error;
  }
}

/** Each item as `change` makes it; whoever leaves the result leaves `items`, also before the first. */
export function mapStream<Item, Changed>(
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
      await leaveStream(iterator, reason);
      return done;
    },
  };
  return { [Symbol.asyncIterator]: () => changed };
}
