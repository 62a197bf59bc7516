/** How a stream ended: whole, by an error of its own, or because whoever read it stopped, for a reason or none. */
export type StreamEnd =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'left'; readonly reason: unknown };

/**
 * The same items; `onEnd` runs once, however the stream ends, also when its reader leaves before the first item, which a
 * generator would not notice. What it throws after the last item is an error of the stream.
 */
export function onStreamEnd<Item>(
  items: AsyncIterable<Item>,
  onEnd: (end: StreamEnd) => Promise<void>,
): AsyncIterable<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let ended: Promise<void> | null = null;
  const end = (how: StreamEnd) => (ended ??= onEnd(how));
  const leave = async (reason: unknown): Promise<IteratorResult<Item>> => {
    // First: a producer that hangs would hold it up.
    await end({ type: 'left', reason });
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  const wrapped: AsyncIterator<Item> = {
    next: async () => {
      let result: IteratorResult<Item>;
      try {
        result = await iterator.next();
      } catch (error) {
        await end({ type: 'failed', error });
        throw error;
      }
      if (result.done === true) await end({ type: 'done' });
      return result;
    },
    return: () => leave(null),
    throw: leave,
  };
  return { [Symbol.asyncIterator]: () => wrapped };
}
