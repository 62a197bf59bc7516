import { LANES, ROW_BYTES, ROW_GROUP, type Kernel, type MakeKernel } from './kernel.js';

/** A segment has at most this many blocks, because its memory is reserved as a whole. */
const SEGMENT_BLOCKS = 16;
const SEGMENT_BYTES = 2 ** 30;
/** Blocks that are scanned between two looks at the selection's threshold. */
export const STEP_BLOCKS = 4;
/** Vectors that are written into a block together, because their lanes share a cache line. */
export const STAGED = 16;

/** A fixed number of slots for vectors, as views of one block of WebAssembly memory. */
export interface VectorSegment {
  readonly kernel: Kernel;
  readonly bytes: Uint8Array;
  readonly ties: Float64Array;
  readonly mask: Uint8Array;
  readonly weights: Float32Array;
  readonly rows: Uint32Array;
  readonly hits: Uint32Array;
  readonly scores: Float32Array;
  /** Blocks that have held a vector. */
  blocks: number;
}

/** The places where the regions of a segment's memory begin, and the distances between neighbours, in bytes. */
export interface Layout {
  readonly blocks: number;
  readonly offsets: Readonly<Record<Region, number>>;
  readonly stride: number;
  readonly stagedStride: number;
  readonly bytes: number;
}
type Region = 'staged' | 'weights' | 'rows' | 'sums' | 'hits' | 'scores' | 'mask' | 'ties' | 'vectors';

export function layOut(dimensions: number): Layout {
  const stride = dimensions * ROW_BYTES;
  // A power of two would make rows share cache sets.
  const stagedStride = dimensions * 4 + 64;
  const blocks = Math.max(1, Math.min(SEGMENT_BLOCKS, Math.floor(SEGMENT_BYTES / stride)));
  const sizes: Readonly<Record<Region, number>> = {
    staged: STAGED * stagedStride,
    weights: (dimensions + ROW_GROUP) * 4,
    rows: (dimensions + ROW_GROUP) * 4,
    sums: LANES * 4,
    hits: STEP_BLOCKS * LANES * 4,
    scores: STEP_BLOCKS * LANES * 4,
    mask: blocks * LANES,
    ties: blocks * LANES * 8,
    vectors: blocks * stride,
  };
  let next = 1024;
  const place = (region: Region) => {
    const offset = next;
    next = Math.ceil((offset + sizes[region]) / 64) * 64;
    return offset;
  };
  const offsets = {
    staged: place('staged'),
    weights: place('weights'),
    rows: place('rows'),
    sums: place('sums'),
    hits: place('hits'),
    scores: place('scores'),
    mask: place('mask'),
    ties: place('ties'),
    vectors: place('vectors'),
  };
  return { blocks, offsets, stride, stagedStride, bytes: next };
}

export function makeSegment(
  makeKernel: MakeKernel,
  { blocks, offsets, bytes }: Layout,
  dimensions: number,
): VectorSegment {
  const { kernel, buffer } = makeKernel(bytes);
  return {
    kernel,
    bytes: new Uint8Array(buffer),
    ties: new Float64Array(buffer, offsets.ties, blocks * LANES),
    mask: new Uint8Array(buffer, offsets.mask, blocks * LANES),
    weights: new Float32Array(buffer, offsets.weights, dimensions + ROW_GROUP),
    rows: new Uint32Array(buffer, offsets.rows, dimensions + ROW_GROUP),
    hits: new Uint32Array(buffer, offsets.hits, STEP_BLOCKS * LANES),
    scores: new Float32Array(buffer, offsets.scores, STEP_BLOCKS * LANES),
    blocks: 0,
  };
}

/** Byte offset of the first component of a vector; its next components follow `ROW_BYTES` apart. */
export function vectorAt({ offsets, stride }: Layout, place: number): number {
  return offsets.vectors + Math.floor(place / LANES) * stride + (place % LANES) * 4;
}
