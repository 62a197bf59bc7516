import { readFile } from 'node:fs/promises';

/** An instance of a compiled kernel, and its memory. */
export interface Compiled<Kernel> {
  readonly kernel: Kernel;
  readonly buffer: ArrayBuffer;
}

/** Makes an instance with at least this many bytes of zeroed memory; untouched pages cost nothing. */
export type MakeCompiled<Kernel> = (bytes: number) => Compiled<Kernel>;

const PAGE_BYTES = 65_536;

/** @param Kernel the exports of the module; pointers are byte offsets into the memory that the kernel was made with */
export async function loadCompiled<Kernel>(file: URL): Promise<MakeCompiled<Kernel>> {
  const module = new WebAssembly.Module(await readFile(file));
  return (bytes) => {
    const pages = Math.ceil(bytes / PAGE_BYTES);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    // @NOTE a module has no types; its caller names the kernel that was compiled from the file beside it
    return { kernel: exports as Kernel, buffer: memory.buffer };
  };
}

// @NOTE neither ES2023 nor Node's types declare WebAssembly; this is the part of it that is used.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Memory: new (size: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer };
  readonly Instance: new (
    module: object,
    imports: { env: { memory: object } },
  ) => { readonly exports: unknown };
};
