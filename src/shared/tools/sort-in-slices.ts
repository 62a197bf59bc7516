import { setImmediate as nextTurn } from 'node:timers/promises';

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
