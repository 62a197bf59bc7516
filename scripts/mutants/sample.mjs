/** In an order that a number decides. */
export function shuffled(values, seed) {
  const random = randomOf(seed);
  const shuffledValues = [...values];
  for (let last = shuffledValues.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [shuffledValues[last], shuffledValues[other]] = [shuffledValues[other], shuffledValues[last]];
  }
  return shuffledValues;
}

/** mulberry32 */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
