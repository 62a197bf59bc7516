import type { ItemOutcome, StoredItem } from './items.js';

/** Beyond this number of items whose outcomes are not taken yet, no more are stored. Each takes less than a kilobyte. */
const MAX_AHEAD = 2_048;

type Settle = (group: readonly StoredItem[]) => Promise<readonly ItemOutcome[]>;

interface Begun {
  readonly outcomes: Promise<readonly ItemOutcome[]>;
}

/**
 * Settles groups of items while more are stored, and returns their outcomes in order. A consumer that does not take the
 * outcomes stops the storing: the memory does not grow with the length of the stream.
 */
export async function* settleInOrder(
  groups: AsyncIterable<readonly StoredItem[]>,
  settle: Settle,
): AsyncGenerator<readonly ItemOutcome[]> {
  const iterator = groups[Symbol.asyncIterator]();
  const begun: Begun[] = [];
  let ahead = 0;
  let next: Promise<IteratorResult<readonly StoredItem[]>> | null = iterator.next();
  try {
    while (next || begun.length > 0) {
      const [first] = begun;
      const storing = next && ahead < MAX_AHEAD ? next.then((result) => ({ result })) : null;
      const settling = first?.outcomes.then((outcomes) => ({ outcomes })) ?? null;
      const event = await Promise.race([storing, settling].filter((each) => each !== null));
      if ('outcomes' in event) {
        begun.shift();
        ahead -= event.outcomes.length;
        yield event.outcomes;
      } else if (event.result.done === true) {
        next = null;
      } else {
        ahead += event.result.value.length;
        begun.push({ outcomes: settle(event.result.value) });
        next = iterator.next();
      }
    }
  } finally {
    // A consumer that stops here does not wait for the group being read. Its own end of the connection tells it.
    next?.catch(() => undefined);
    void Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}
