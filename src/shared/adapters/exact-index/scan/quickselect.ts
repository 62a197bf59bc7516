/*
 * Selection without sorting (Hoare, "Algorithm 65: Find", 1961). In the loops, `?? 0` reads items that are known to be there,
 * because a check would slow them down.
 */

/** Returns the value that would stand at `index` if the values were sorted from high to low. Reorders the values. */
export function nthHighest(values: Float64Array, index: number): number {
  for (let [low, high] = [0, values.length - 1]; low < high;) {
    const pivot = values[(low + high) >> 1] ?? 0;
    let [left, right] = [low, high];
    while (left <= right) {
      while ((values[left] ?? 0) > pivot) left += 1;
      while ((values[right] ?? 0) < pivot) right -= 1;
      if (left > right) break;
      const value = values[left] ?? 0;
      values[left] = values[right] ?? 0;
      values[right] = value;
      left += 1;
      right -= 1;
    }
    if (index <= right) high = right;
    else if (index >= left) low = left;
    else break;
  }
  return values[index] ?? 0;
}

/** Moves the first `count` items by `order` to the front. Neither these nor the others are sorted. */
export function moveFirst(items: Uint32Array, count: number, order: (a: number, b: number) => number): void {
  for (let [low, high] = [0, items.length - 1]; low < high;) {
    const pivot = items[(low + high) >> 1] ?? 0;
    let [left, right] = [low, high];
    while (left <= right) {
      while (order(items[left] ?? 0, pivot) < 0) left += 1;
      while (order(items[right] ?? 0, pivot) > 0) right -= 1;
      if (left > right) break;
      const item = items[left] ?? 0;
      items[left] = items[right] ?? 0;
      items[right] = item;
      left += 1;
      right -= 1;
    }
    if (count - 1 <= right) high = right;
    else if (count - 1 >= left) low = left;
    else break;
  }
}
