/** Returns the number of items that two lists have in common at their beginning. */
export function commonLength<Item>(one: readonly Item[], other: readonly Item[]): number {
  const end = Math.min(one.length, other.length);
  let length = 0;
  while (length < end && one[length] === other[length]) length += 1;
  return length;
}
