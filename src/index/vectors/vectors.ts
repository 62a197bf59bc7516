import { at } from '../../shared/at.js';
import { LANES, ROW_BYTES, ROW_GROUP, type MakeKernel, type Kernel } from './kernel.js';
import type { KnnCollector } from './knn-collector.js';

/** Tells whether the scan may look at a slot. */
export type IsAllowed = (slot: number) => boolean;

/** Vectors of one length in numbered slots, in memory outside of the JavaScript heap. */
export interface Vectors {
  readonly dimensions: number;
  /**
   * Stores a vector of little-endian FLOAT32 bytes in a slot: the next one that was never used, or one that was used
   * before.
   */
  put(slot: number, bytes: Uint8Array, tie: number): void;
  /** Inner product of the query and the vector of a slot, which must hold one. */
  similarity(query: Float32Array, slot: number): number;
  /** Collects all allowed slots whose inner product with the query may be among the best. */
  scan(query: Float32Array, isAllowed: IsAllowed, collector: KnnCollector): void;
}

/** The slots of all segments, and the vectors that wait to be written into them. */
interface Store {
  readonly makeKernel: MakeKernel;
  readonly dimensions: number;
  readonly layout: Layout;
  readonly segmentSize: number;
  readonly segments: VectorSegment[];
  /** Vectors of neighbouring slots that wait to be written into their block. */
  readonly staged: { first: number; count: number };
}

export function createVectors(makeKernel: MakeKernel, dimensions: number): Vectors {
  const store = createStore(makeKernel, dimensions);
  const { segmentSize } = store;
  return {
    dimensions,
    put: (slot, bytes, tie) => putVector(store, slot, { bytes, tie }),
    similarity: (query, slot) => {
      flush(store);
      const first = vectorAt(store.layout, slot % segmentSize);
      return innerProduct(query, segmentOf(store, slot), { first, dimensions });
    },
    scan: (query, isAllowed, collector) => {
      flush(store);
      scanSegments(store, { query, isAllowed, collector });
    },
  };
}

function createStore(makeKernel: MakeKernel, dimensions: number): Store {
  const layout = layOut(dimensions);
  return {
    makeKernel,
    dimensions,
    layout,
    segmentSize: layout.blocks * LANES,
    segments: [],
    staged: { first: 0, count: 0 },
  };
}

function segmentOf({ segments, segmentSize }: Store, slot: number): VectorSegment {
  return at(segments, Math.floor(slot / segmentSize));
}

function putVector(
  store: Store,
  slot: number,
  { bytes, tie }: { readonly bytes: Uint8Array; readonly tie: number },
): void {
  const { makeKernel, dimensions, layout, segmentSize, segments, staged } = store;
  // After all chunks have gone, slots begin in any order.
  while (slot >= segments.length * segmentSize) segments.push(makeSegment(makeKernel, layout, dimensions));
  if (slot !== staged.first + staged.count || slot % STAGED === 0) flush(store);
  if (staged.count === 0) staged.first = slot;
  const segment = segmentOf(store, slot);
  const place = slot % segmentSize;
  segment.blocks = Math.max(segment.blocks, Math.floor(place / LANES) + 1);
  segment.ties[place] = tie;
  segment.bytes.set(bytes, layout.offsets.staged + staged.count * layout.stagedStride);
  staged.count += 1;
}

/** Writes the staged vectors into their block. */
function flush(store: Store): void {
  const { dimensions, layout, segmentSize, staged } = store;
  const { first, count } = staged;
  if (count === 0) return;
  staged.count = 0;
  const target = vectorAt(layout, first % segmentSize);
  const { kernel } = segmentOf(store, first);
  kernel.put(layout.offsets.staged, layout.stagedStride, count, target, dimensions);
}

function innerProduct(
  query: Float32Array,
  { bytes }: VectorSegment,
  { first, dimensions }: { readonly first: number; readonly dimensions: number },
): number {
  const numbers = new Float32Array(bytes.buffer);
  let sum = 0;
  for (let dimension = 0; dimension < dimensions; dimension += 1)
    sum += query[dimension] * numbers[(first + dimension * ROW_BYTES) / 4];
  return sum;
}

function scanSegments(
  { segments, layout, segmentSize }: Store,
  {
    query,
    isAllowed,
    collector,
  }: { readonly query: Float32Array; readonly isAllowed: IsAllowed; readonly collector: KnnCollector },
): void {
  const components = chooseComponents(query);
  for (const [index, segment] of segments.entries()) {
    const base = index * segmentSize;
    if (!fillMask(segment, base, isAllowed)) continue;
    scanSegment(segment, layout, { components, base, collector });
  }
}

/** Writes a byte for each slot, 1 where the scan may look. @returns true if it may look anywhere */
function fillMask({ mask, blocks }: VectorSegment, base: number, isAllowed: IsAllowed): boolean {
  let allowed = 0;
  for (let place = 0; place < blocks * LANES; place += 1) {
    const byte = Number(isAllowed(base + place));
    mask[place] = byte;
    allowed += byte;
  }
  return allowed > 0;
}

function scanSegment(
  { kernel, ties, hits, scores, blocks, weights, rows }: VectorSegment,
  { offsets, stride }: Layout,
  { components, base, collector }: { components: Components; base: number; collector: KnnCollector },
): void {
  weights.set(components.weights);
  if (components.rows) rows.set(components.rows);
  const rowsAt = components.rows ? offsets.rows : 0;
  // The first step is short, because it only has to find a threshold.
  for (let block = 0, step = 1; block < blocks; block += step, step = STEP_BLOCKS) {
    collector.tighten();
    const found = kernel.scan(
      ...([offsets.vectors + block * stride, Math.min(step, blocks - block), stride] as const),
      ...([offsets.weights, rowsAt, components.weights.length] as const),
      ...([offsets.mask + block * LANES, offsets.ties + block * LANES * 8] as const),
      ...([collector.minScore, collector.maxTie] as const),
      ...([offsets.sums, offsets.hits, offsets.scores] as const),
    );
    for (let i = 0; i < found; i += 1) {
      const place = block * LANES + hits[i];
      collector.collect(base + place, scores[i], ties[place]);
    }
  }
}

interface Components {
  readonly weights: Float32Array;
  /** Byte offsets of the components' rows; null for all rows. */
  readonly rows: Uint32Array | null;
}

/**
 * Returns the nonzero components in whole groups, or all when many are nonzero, since reading on is then cheaper than
 * skipping.
 */
function chooseComponents(query: Float32Array): Components {
  const nonzero: number[] = [];
  for (let dimension = 0; dimension < query.length; dimension += 1)
    if (query[dimension] !== 0) nonzero.push(dimension);
  if (nonzero.length > query.length / 4) return { weights: query, rows: null };
  const size = Math.ceil(nonzero.length / ROW_GROUP) * ROW_GROUP;
  const [weights, rows] = [new Float32Array(size), new Uint32Array(size)];
  for (const [i, dimension] of nonzero.entries()) {
    weights[i] = query[dimension];
    rows[i] = dimension * ROW_BYTES;
  }
  return { weights, rows };
}

/** A segment has at most this many blocks, because its memory is reserved as a whole. */
const SEGMENT_BLOCKS = 16;
const SEGMENT_BYTES = 2 ** 30;
/** Blocks that are scanned between two looks at the selection's threshold. */
const STEP_BLOCKS = 4;
/** Vectors that are written into a block together, because their lanes share a cache line. */
const STAGED = 16;

/** A fixed number of slots for vectors, as views of one block of WebAssembly memory. */
interface VectorSegment {
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
interface Layout {
  readonly blocks: number;
  readonly offsets: Readonly<Record<Region, number>>;
  readonly stride: number;
  readonly stagedStride: number;
  readonly bytes: number;
}
type Region = 'staged' | 'weights' | 'rows' | 'sums' | 'hits' | 'scores' | 'mask' | 'ties' | 'vectors';

function layOut(dimensions: number): Layout {
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

function makeSegment(
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
function vectorAt({ offsets, stride }: Layout, place: number): number {
  return offsets.vectors + Math.floor(place / LANES) * stride + (place % LANES) * 4;
}
