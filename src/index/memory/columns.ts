/** Numbers by slot, 0 where none was set. */
export interface FloatColumn {
  get(slot: number): number;
  set(slot: number, value: number): void;
}

/** A column takes no memory before its first number is set. */
export function createFloatColumn(): FloatColumn {
  let values = new Float64Array(0);
  return {
    get: (slot) => (slot < values.length ? values[slot] : 0),
    set: (slot, value) => {
      if (slot >= values.length) {
        if (value === 0) return;
        const larger = new Float64Array(Math.max(1024, Math.ceil((slot + 1) * 1.5)));
        larger.set(values);
        values = larger;
      }
      values[slot] = value;
    },
  };
}

/** Returns the number of a slot, 0 beyond the end of the column. */
export function readColumn(column: Int32Array, slot: number): number {
  return slot < column.length ? column[slot] : 0;
}

/** Returns a column of numbers with room for `size`: the given one, or a larger copy with zeros at its end. */
export function growColumn(column: Int32Array<ArrayBuffer>, size: number): Int32Array<ArrayBuffer> {
  if (size <= column.length) return column;
  const larger = new Int32Array(Math.max(1024, Math.ceil(size * 1.5)));
  larger.set(column);
  return larger;
}
