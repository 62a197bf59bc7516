import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SOURCE = `
export function best(vectors: usize, count: u32, query: usize, bytes: usize): f32 {
  let best: f32 = -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    let a = f32x4.splat(0), b = a, c = a, d = a;
    for (let at: usize = 0; at < bytes; at += 64) {
      a = f32x4.add(a, f32x4.mul(v128.load(query + at), v128.load(vectors + at)));
      b = f32x4.add(b, f32x4.mul(v128.load(query + at, 16), v128.load(vectors + at, 16)));
      c = f32x4.add(c, f32x4.mul(v128.load(query + at, 32), v128.load(vectors + at, 32)));
      d = f32x4.add(d, f32x4.mul(v128.load(query + at, 48), v128.load(vectors + at, 48)));
    }
    vectors += bytes;
    a = f32x4.add(f32x4.add(a, b), f32x4.add(c, d));
    const sum = f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + f32x4.extract_lane(a, 2) + f32x4.extract_lane(a, 3);
    if (sum > best) best = sum;
  }
  return best;
}`;

/** The yardstick: nothing but inner products of vectors that lie one after another, by SIMD. `dimensions` in 16s. */
export interface RawScan {
  readonly vectors: Float32Array;
  /** @returns the highest inner product */
  best(query: Float32Array): number;
}

export function createRawScan(count: number, dimensions: number): RawScan {
  const binary = compile();
  const [queryAt, vectorsAt] = [1024, 1024 + dimensions * 4];
  const memory = new WebAssembly.Memory({
    initial: Math.ceil((vectorsAt + count * dimensions * 4) / 65_536),
  });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), { env: { memory } });
  const query = new Float32Array(memory.buffer, queryAt, dimensions);
  return {
    vectors: new Float32Array(memory.buffer, vectorsAt, count * dimensions),
    best: (asked) => {
      query.set(asked);
      return exports.best(vectorsAt, count, queryAt, dimensions * 4);
    },
  };
}

/** By the compiler's command: importing it would load its global types into the whole type check. */
function compile(): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'quire-raw-scan-'));
  try {
    const [source, target] = [join(folder, 'raw.ts'), join(folder, 'raw.wasm')];
    writeFileSync(source, SOURCE);
    const compiler = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js');
    const options = [
      '--optimizeLevel',
      '3',
      '--noAssert',
      '--runtime',
      'stub',
      '--enable',
      'simd',
      '--importMemory',
    ];
    execFileSync(process.execPath, [compiler, source, '-o', target, ...options]);
    return readFileSync(target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// @NOTE no types that are loaded declare WebAssembly.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { initial: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (
    module: object,
    imports: { env: { memory: object } },
  ) => { readonly exports: { best(vectors: number, count: number, query: number, bytes: number): number } };
};
