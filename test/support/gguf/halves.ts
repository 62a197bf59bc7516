const numbers = new Float32Array(1);
const bits = new Uint32Array(numbers.buffer);

/** 16-bit floats, rounded to the nearest; for weights, none of which is 65520 or more. What is below 2^-14 becomes 0. */
export function toHalves(values: Float32Array): Uint16Array {
  const halves = new Uint16Array(values.length);
  for (let index = 0; index < values.length; index++) {
    numbers[0] = values[index] ?? 0;
    const all = bits[0] ?? 0;
    const sign = (all >>> 16) & 0x8000;
    // Exponent and fraction without the 13 lowest bits, the exponent counted from 15 instead of 127.
    const rest = (((all & 0x7fffffff) + 0x1000) >>> 13) - (112 << 10);
    halves[index] = rest < 0x400 ? sign : sign | rest;
  }
  return halves;
}
