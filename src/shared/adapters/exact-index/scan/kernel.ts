import { readFile } from 'node:fs/promises';

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

export type MakeKernel = (bytes: number) => { readonly kernel: Kernel; readonly buffer: ArrayBuffer };

const PAGE_BYTES = 65_536;

/** @returns a function that makes an instance with at least so many bytes of zeroed memory; untouched pages cost nothing */
export async function loadKernel(): Promise<MakeKernel> {
  const module = new WebAssembly.Module(await readFile(new URL('./kernel.wasm', import.meta.url)));
  return (bytes) => {
    const pages = Math.ceil(bytes / PAGE_BYTES);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const instance = new WebAssembly.Instance(module, { env: { memory } });
    return { kernel: instance.exports, buffer: memory.buffer };
  };
}

// @NOTE neither ES2023 nor Node's types declare WebAssembly; this is what is used of it, with our module's exports.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (
    module: object,
    imports: { env: { memory: object } },
  ) => { readonly exports: Kernel };
};
