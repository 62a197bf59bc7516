/**
 * The item at an index that is known to be there. Not for inner loops over many numbers, which it would slow down.
 * @throws RangeError where it is not there, so that a mistake is no zero or empty text that goes on
 */
export function at<Item>(list: ArrayLike<Item | undefined>, index: number): Item {
  const item = list[index];
  if (item === undefined)
    throw new RangeError(`No item ${String(index)} in a list of ${String(list.length)}.`);
  return item;
}
