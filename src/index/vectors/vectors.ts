import { at } from '../memory/at.js';
import { LANES, ROW_BYTES, ROW_GROUP, type MakeKernel } from './kernel.js';
import type { KnnCollector } from './knn-collector.js';
import {
  layOut,
  makeSegment,
  STAGED,
  STEP_BLOCKS,
  vectorAt,
  type Layout,
  type VectorSegment,
} from './vector-segments.js';

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

/** Here and in `scanSegment`, `?? 0` reads numbers that are known to be there, because a check would slow the loop down. */
function innerProduct(
  query: Float32Array,
  { bytes }: VectorSegment,
  { first, dimensions }: { readonly first: number; readonly dimensions: number },
): number {
  const numbers = new Float32Array(bytes.buffer);
  let sum = 0;
  for (let dimension = 0; dimension < dimensions; dimension += 1)
    sum += (query[dimension] ?? 0) * (numbers[(first + dimension * ROW_BYTES) / 4] ?? 0);
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
      const place = block * LANES + (hits[i] ?? 0);
      collector.collect(base + place, scores[i] ?? 0, ties[place] ?? 0);
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
    weights[i] = query[dimension] ?? 0;
    rows[i] = dimension * ROW_BYTES;
  }
  return { weights, rows };
}
