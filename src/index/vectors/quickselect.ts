/**
 * Returns the value that would stand at `index` if the values were sorted from high to low (Hoare, "Algorithm 65: Find",
 * 1961). Reorders the values. In the loops, `?? 0` reads values that are known to be there, because a check would slow them
 * down.
 */
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
