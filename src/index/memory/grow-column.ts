/** Returns a column of numbers with room for `size`: the given one, or a larger copy with zeros at its end. */
export function growColumn(column: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  if (size <= column.length) return column;
  const larger = new Int32Array(Math.max(1024, Math.ceil(size * 1.5)));
  larger.set(column);
  return larger;
}
