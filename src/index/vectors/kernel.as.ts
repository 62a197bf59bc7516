/**
 * Inner products of a query with many vectors, in AssemblyScript. scripts/build-assets.mjs compiles it to kernel.wasm.
 *
 * Vectors lie in blocks of `LANES`, and a block holds one dimension after the other (Kuffo, Krippner, Boncz: "PDX: A Data
 * Layout for Vector Similarity Search", 2025), so that a query with few nonzero dimensions reads only the rows of these. Each
 * row is padded by a cache line, since rows of a power of two would all fall into the same cache sets.
 */
const LANES: usize = 1024;
const ROW: usize = LANES * 4 + 64;

/**
 * Writes `count` vectors of `dimensions` floats into neighbouring lanes of a block, one float to a row. The vectors start
 * `stride` bytes apart at `source`; `target` is the first of the lanes in the first row. Lanes that share a cache line
 * are written together: one by one, each float would cost a cache miss.
 */
export function put(source: usize, stride: usize, count: u32, target: usize, dimensions: u32): void {
  for (let end = source + ((<usize>dimensions) << 2); source < end; source += 4) {
    let from = source;
    for (let to = target; to < target + ((<usize>count) << 2); to += 4) {
      store<f32>(to, load<f32>(from));
      from += stride;
    }
    target += ROW;
  }
}

/**
 * Scores the lanes of `blocks` blocks and collects the lanes that may belong to the best: their mask byte is set, and their
 * score is above `minScore`, or equals it and their tie key is at most `maxTie`.
 *
 * @param weights `count` components of the query
 * @param rows byte offset of each component's row within a block; `count` is a multiple of 8 then. Or 0: all rows
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
  minScore: f32,
  maxTie: f64,
  sums: usize,
  hits: usize,
  scores: usize,
): u32 {
  let found: u32 = 0;
  for (let first: u32 = 0; first < blocks * <u32>LANES; first += <u32>LANES) {
    if (anySet(mask)) {
      memory.fill(sums, 0, LANES << 2);
      if (rows == 0) addAll(block, weights, count, sums);
      else addSome(block, weights, rows, count, sums);
      for (let lane: usize = 0; lane < LANES; lane += 4) {
        if (!v128.any_true(f32x4.ge(v128.load(sums + (lane << 2)), f32x4.splat(minScore)))) continue;
        for (let each = lane; each < lane + 4; each++) {
          const sum = load<f32>(sums + (each << 2));
          if (load<u8>(mask + each) == 0 || !(sum >= minScore)) continue;
          if (sum == minScore && load<f64>(ties + (each << 3)) > maxTie) continue;
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

/** Adds all rows, one at a time and straight through the memory, which suits the prefetcher best. */
function addAll(row: usize, weights: usize, count: u32, sums: usize): void {
  for (let end = weights + ((<usize>count) << 2); weights < end; weights += 4) {
    const weight = v128.load32_splat(weights);
    for (let at: usize = 0; at < LANES << 2; at += 64) {
      const sum = sums + at;
      const values = row + at;
      v128.store(sum, f32x4.add(v128.load(sum), f32x4.mul(weight, v128.load(values))));
      v128.store(sum, f32x4.add(v128.load(sum, 16), f32x4.mul(weight, v128.load(values, 16))), 16);
      v128.store(sum, f32x4.add(v128.load(sum, 32), f32x4.mul(weight, v128.load(values, 32))), 32);
      v128.store(sum, f32x4.add(v128.load(sum, 48), f32x4.mul(weight, v128.load(values, 48))), 48);
    }
    row += ROW;
  }
}

/** Adds single rows, eight at a time: they lie apart, so that their cache misses overlap. */
function addSome(block: usize, weights: usize, rows: usize, count: u32, sums: usize): void {
  for (let end = rows + ((<usize>count) << 2); rows < end; rows += 32, weights += 32) {
    const weight0 = v128.load32_splat(weights);
    const weight1 = v128.load32_splat(weights, 4);
    const weight2 = v128.load32_splat(weights, 8);
    const weight3 = v128.load32_splat(weights, 12);
    const weight4 = v128.load32_splat(weights, 16);
    const weight5 = v128.load32_splat(weights, 20);
    const weight6 = v128.load32_splat(weights, 24);
    const weight7 = v128.load32_splat(weights, 28);
    const row0 = block + <usize>load<u32>(rows);
    const row1 = block + <usize>load<u32>(rows, 4);
    const row2 = block + <usize>load<u32>(rows, 8);
    const row3 = block + <usize>load<u32>(rows, 12);
    const row4 = block + <usize>load<u32>(rows, 16);
    const row5 = block + <usize>load<u32>(rows, 20);
    const row6 = block + <usize>load<u32>(rows, 24);
    const row7 = block + <usize>load<u32>(rows, 28);
    for (let at: usize = 0; at < LANES << 2; at += 16) {
      let sum = v128.load(sums + at);
      sum = f32x4.add(sum, f32x4.mul(weight0, v128.load(row0 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight1, v128.load(row1 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight2, v128.load(row2 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight3, v128.load(row3 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight4, v128.load(row4 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight5, v128.load(row5 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight6, v128.load(row6 + at)));
      sum = f32x4.add(sum, f32x4.mul(weight7, v128.load(row7 + at)));
      v128.store(sums + at, sum);
    }
  }
}
