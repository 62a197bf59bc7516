/**
 * The item at an index that is known to be in a list. Inner loops over many numbers read them without it, because the call
 * would slow them down (`tsconfig.numbers.json`).
 * @throws RangeError where the item is missing, so that a mistake does not go on as a zero or an empty text
 */
export function at<Item>(list: ArrayLike<Item | undefined>, index: number): Item {
  const item = list[index];
  if (item === undefined)
    throw new RangeError(`No item ${String(index)} in a list of ${String(list.length)}.`);
  return item;
}

/**
 * The value of a key that is known to be in a map.
 * @throws RangeError where it is not
 */
export function valueOf<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new RangeError(`No ${String(key)} in a map of ${String(map.size)}.`);
  return value;
}

/** The value of a key that may be missing, as an attribute that refers to something may be. Nothing is found without a key. */
export function lookUp<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key | undefined): Value | undefined {
  return key === undefined ? undefined : map.get(key);
}
