/** Returns `count` random numbers of mean 0 with this standard deviation. */
export type Noise = (count: number, deviation: number) => Float32Array;

/** The same seed gives the same numbers: Mulberry32, stretched to ±√3 deviations. */
export function createNoise(seed: number): Noise {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return (count, deviation) => {
    const width = 2 * Math.sqrt(3) * deviation;
    const values = new Float32Array(count);
    for (let index = 0; index < count; index++) values[index] = (next() - 0.5) * width;
    return values;
  };
}
