/**
 * Returns the item at an index that is known to be in a list. Inner loops over many numbers use `?? 0` instead, because the
 * call would slow them down.
 * @throws RangeError where the item is missing, so that a mistake does not go on as a zero or an empty text
 */
export function at<Item>(list: ArrayLike<Item | undefined>, index: number): Item {
  const item = list[index];
  if (item === undefined)
    throw new RangeError(`No item ${String(index)} in a list of ${String(list.length)}.`);
  return item;
}
