import type { MemoryLease } from './answer-memory/answer-memory.js';

/** The end of a stream: complete, with an error, or because its reader stopped, possibly for a reason. */
export type StreamEnd =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'left'; readonly reason: unknown };

/** Passes items on one by one. */
export async function* eachOf<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  for (const item of items) yield await Promise.resolve(item);
}

/** Holds memory until the last item was taken or the reader has left. */
export function held<Item>(items: AsyncIterable<Item>, lease: MemoryLease): AsyncIterable<Item> {
  return onStreamEnd(items, () => {
    lease.release();
    return Promise.resolve();
  });
}

/**
 * Passes items on and calls `onEnd` once, however the stream ends, even when its reader stops before the first item, which
 * a generator would not notice. An error of `onEnd` after the last item becomes an error of the stream.
 */
export function onStreamEnd<Item>(
  items: AsyncIterable<Item>,
  onEnd: (end: StreamEnd) => Promise<void>,
): AsyncIterable<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let ended: Promise<void> | null = null;
  const end = (how: StreamEnd) => (ended ??= onEnd(how));
  const leave = async (reason: unknown): Promise<IteratorResult<Item>> => {
    // This comes first, because a producer that hangs would delay it.
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
