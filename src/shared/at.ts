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

/** The sums of a tally by key: a map, or a weak map where its keys come and go. */
interface Sums<Key> {
  get(key: Key): number | undefined;
}

/** The sum of a key in a tally. A key to which nothing was added has the sum 0. */
export function sumOf<Key>(sums: Sums<Key>, key: Key): number {
  return sums.get(key) ?? 0;
}

/** Adds to the sum of a key in a tally. Returns the new sum. */
export function addTo<Key>(
  sums: Sums<Key> & { set(key: Key, sum: number): unknown },
  key: Key,
  by = 1,
): number {
  const sum = sumOf(sums, key) + by;
  sums.set(key, sum);
  return sum;
}

/** The text of a key, as of a cell in a row or of a parameter. It is empty where the map has none. */
export function textOrEmpty<Key>(texts: ReadonlyMap<Key, string>, key: Key): string {
  return texts.get(key) ?? '';
}

/** The value of a key that may be missing, as an attribute that refers to something may be. Nothing is found without a key. */
export function lookUp<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key | undefined): Value | undefined {
  return key === undefined ? undefined : map.get(key);
}
