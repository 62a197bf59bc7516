import { loadCompiled, type MakeCompiled } from '../memory/compiled.js';

/** The functions and the memory of the kernel; kernel.as.ts explains it. Pointers are byte offsets into its memory. */
export interface PostingsKernel {
  /** @returns the window in the upper 16 bits, and the number of chunks that were found in the lower ones; or -1 */
  readonly advance: (
    ...parameters: [
      ...[segment: number, window: number, lists: number],
      ...[threshold: number, spare: number, fixed: number, perTerm: number],
    ]
  ) => number;
}

export type MakePostingsKernel = MakeCompiled<PostingsKernel>;

/** The fields of a segment, four bytes each, in the order of kernel.as.ts. */
export const SEGMENT_FIELDS = [
  ...(['windows', 'ordinals', 'counts', 'lengths'] as const),
  ...(['windowEnds', 'boundCounts', 'boundLengths'] as const),
  ...(['lists', 'order', 'sums', 'places', 'found'] as const),
];

/** The places of the fields of a list, in numbers of four bytes, and how many of these it has. */
export const LIST = { weight: 0, bound: 1, table: 2, next: 3, end: 4, words: 7 } as const;

export const loadPostingsKernel = (): Promise<MakePostingsKernel> =>
  loadCompiled(new URL('./kernel.wasm', import.meta.url));
