import { abandonIterator } from '../../http/response/reply.js';

/**
 * Makes several items of each, after some that come before the first is there. Abandoning the result abandons `items`, even
 * before the first item was read, so that what they hold is given back.
 */
export function expand<Item, Made>(
  items: AsyncIterable<Item>,
  make: (item: Item) => readonly Made[],
  first: readonly Made[] = [],
): AsyncIterable<Made> {
  const iterator = items[Symbol.asyncIterator]();
  const made = [...first];
  const done = { done: true, value: undefined } as const;
  const expanded: AsyncIterator<Made> = {
    next: async () => {
      for (;;) {
        const next = made.shift();
        if (next !== undefined) return { done: false, value: next };
        const item = await iterator.next();
        if (item.done === true) return done;
        made.push(...make(item.value));
      }
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
  return { [Symbol.asyncIterator]: () => expanded };
}
