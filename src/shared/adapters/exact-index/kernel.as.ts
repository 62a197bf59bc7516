/**
 * Inner product kernel, in AssemblyScript: compiled to kernel.wasm by scripts/build-assets.mjs.
 *
 * Vectors lie in blocks of `LANES`, dimension after dimension inside a block (Kuffo, Krippner, Boncz: "PDX: A Data
 * Layout for Vector Similarity Search"), so that a query with few nonzero dimensions reads only their rows. A row has
 * a cache line of padding: rows of a power of two would all fall into the same cache sets.
 */
const LANES: usize = 512;
const ROW: usize = LANES * 4 + 64;

/** Writes the `dimensions` floats at `source` into a block, one to a row; `target` is the lane in the first row. */
export function put(source: usize, target: usize, dimensions: u32): void {
  for (let end = source + ((<usize>dimensions) << 2); source < end; source += 4) {
    store<f32>(target, load<f32>(source));
    target += ROW;
  }
}

/**
 * Scores the lanes of `blocks` blocks and collects those that may belong to the best: their mask byte is set, and their
 * score is above `least`, or equals it and their tie key is at most `mostTie`.
 *
 * @param weights `count` nonzero components of the query
 * @param rows byte offset of each component's row within a block, ascending
 * @param sums scratch of one row
 * @param hits receives lanes counted from the first block; as many as there are lanes must fit, and into `scores` too
 * @returns the number of hits
 */
export function scan(
  block: usize,
  blocks: u32,
  stride: usize,
  weights: usize,
  rows: usize,
  count: u32,
  mask: usize,
  ties: usize,
  least: f32,
  mostTie: f64,
  sums: usize,
  hits: usize,
  scores: usize,
): u32 {
  let found: u32 = 0;
  for (let first: u32 = 0; first < blocks * <u32>LANES; first += <u32>LANES) {
    if (anySet(mask)) {
      score(block, weights, rows, count, sums);
      for (let lane: usize = 0; lane < LANES; lane += 4) {
        if (!v128.any_true(f32x4.ge(v128.load(sums + (lane << 2)), f32x4.splat(least)))) continue;
        for (let each = lane; each < lane + 4; each++) {
          const sum = load<f32>(sums + (each << 2));
          if (load<u8>(mask + each) == 0 || !(sum >= least)) continue;
          if (sum == least && load<f64>(ties + (each << 3)) > mostTie) continue;
          store<u32>(hits + ((<usize>found) << 2), first + <u32>each);
          store<f32>(scores + ((<usize>found) << 2), sum);
          found++;
        }
      }
    }
    block += stride;
    mask += LANES;
    ties += LANES << 3;
  }
  return found;
}

function anySet(mask: usize): bool {
  for (let end = mask + LANES; mask < end; mask += 16) {
    if (v128.any_true(v128.load(mask))) return true;
  }
  return false;
}

/** Adds up the weighted rows; one row at a time, which the prefetcher follows best. */
function score(block: usize, weights: usize, rows: usize, count: u32, sums: usize): void {
  memory.fill(sums, 0, LANES << 2);
  for (let i: usize = 0; i < <usize>count; i++) {
    const weight = v128.load32_splat(weights + (i << 2));
    const row = block + <usize>load<u32>(rows + (i << 2));
    for (let at: usize = 0; at < LANES << 2; at += 64) {
      const sum = sums + at;
      const values = row + at;
      v128.store(sum, f32x4.add(v128.load(sum), f32x4.mul(weight, v128.load(values))));
      v128.store(sum, f32x4.add(v128.load(sum, 16), f32x4.mul(weight, v128.load(values, 16))), 16);
      v128.store(sum, f32x4.add(v128.load(sum, 32), f32x4.mul(weight, v128.load(values, 32))), 32);
      v128.store(sum, f32x4.add(v128.load(sum, 48), f32x4.mul(weight, v128.load(values, 48))), 48);
    }
  }
}
