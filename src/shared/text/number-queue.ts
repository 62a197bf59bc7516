/** Gives the lowest number first: a binary heap. */
export interface NumberQueue {
  /** The first `size` of them. The children of the number at `i` are at `2 i + 1` and `2 i + 2`, and are not lower. */
  readonly numbers: Float64Array;
  size: number;
}

export function createNumberQueue(capacity: number): NumberQueue {
  return { numbers: new Float64Array(capacity), size: 0 };
}

/** Adds a number to a queue that has room for it. */
export function addNumber(queue: NumberQueue, number: number): void {
  const { numbers } = queue;
  let at = queue.size;
  queue.size += 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = numbers[parent] ?? 0;
    if (above <= number) break;
    numbers[at] = above;
    at = parent;
  }
  numbers[at] = number;
}

/** Removes the lowest number and returns it; infinite when there is none. */
export function takeLowest(queue: NumberQueue): number {
  if (queue.size === 0) return Infinity;
  const { numbers } = queue;
  const lowest = numbers[0] ?? 0;
  queue.size -= 1;
  const { size } = queue;
  const last = numbers[size] ?? 0;
  let at = 0;
  for (let child = 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && (numbers[child + 1] ?? 0) < (numbers[child] ?? 0)) child += 1;
    const below = numbers[child] ?? 0;
    if (below >= last) break;
    numbers[at] = below;
    at = child;
  }
  numbers[at] = last;
  return lowest;
}
