import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MILLISECONDS = 4;

/** When the first slice of this turn of the event loop began; null while there was none. */
let began: number | null = null;
/** Loops that wait for a turn, in the order in which they get one. The first has the present turn while there are any. */
const waiting: (() => void)[] = [];

/**
 * A loop waits for this before each of its steps: when the loops of this process have taken some milliseconds of a turn of the
 * event loop, they go on in later turns, one loop in each. With `setImmediate` alone all of them would go on in the next
 * turn, so that a hundred loops would hold others up a hundred times as long as one.
 */
export async function nextSlice(): Promise<void> {
  if (began === null) {
    began = performance.now();
    setImmediate(() => {
      began = null;
    });
  }
  if (performance.now() - began > SLICE_MILLISECONDS) await nextOwnTurn();
}

/** Resolves in a later turn of the event loop, in which no other loop that waits here goes on. */
export function nextOwnTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  began = performance.now();
  waiting[0]?.();
  setImmediate(() => {
    began = null;
    waiting.shift();
    if (waiting.length > 0) setImmediate(goOn);
  });
}

const RUN = 1_000;
/** Steps of merging between two turns of the event loop: about a millisecond. */
const STEPS = 10_000;

/** Sorts many items by merging, and gives up the event loop in between. */
export async function sortInSlices<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  let runs: Item[][] = [];
  for (let start = 0; start < items.length; start += RUN) {
    runs.push(items.slice(start, start + RUN).sort(compare));
    await nextTurn();
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  const merged: Item[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [a, b] = [left[i], right[j]];
    const isLeft = b === undefined || (a !== undefined && compare(a, b) <= 0);
    const next = isLeft ? a : b;
    if (next !== undefined) merged.push(next);
    if (isLeft) i += 1;
    else j += 1;
    if (merged.length % STEPS === 0) await nextTurn();
  }
  return merged;
}
