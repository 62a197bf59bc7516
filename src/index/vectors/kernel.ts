import { loadCompiled, type MakeCompiled } from '../memory/compiled.js';

/** Lanes of a block, and bytes of one of its rows, as kernel.as.ts has them and explains them. */
export const LANES = 1024;
export const ROW_BYTES = LANES * 4 + 64;
/** When the kernel is given single rows, their number is a multiple of this. */
export const ROW_GROUP = 8;

/** Pointers are byte offsets into the memory that the kernel was made with. */
export interface Kernel {
  put(
    ...parameters: [source: number, stride: number, count: number, target: number, dimensions: number]
  ): void;
  scan(
    ...parameters: [
      ...[block: number, blocks: number, stride: number],
      ...[weights: number, rows: number, count: number],
      ...[mask: number, ties: number, minScore: number, maxTie: number],
      ...[sums: number, hits: number, scores: number],
    ]
  ): number;
}

export type MakeKernel = MakeCompiled<Kernel>;

export const loadKernel = (): Promise<MakeKernel> => loadCompiled(new URL('./kernel.wasm', import.meta.url));
