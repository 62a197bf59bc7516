import { at } from '../../../at.js';
import { LANES, ROW_BYTES, ROW_GROUP, type MakeKernel } from '../scan/kernel.js';
import type { Selection } from '../scan/selection.js';
import {
  layOut,
  makeSegment,
  STAGED,
  STEP_BLOCKS,
  vectorAt,
  type Layout,
  type Segment,
} from './vector-segments.js';

/** One byte per slot of each segment, 1 where the scan may look. */
export type VectorMask = readonly Uint8Array[];

/** Vectors of one length in numbered slots, in memory outside of the JavaScript heap. */
export interface Vectors {
  readonly dimensions: number;
  /** Slots of a segment. Slots are numbered through all segments. */
  readonly segmentSize: number;
  /** Whether no slot holds a vector. */
  readonly isEmpty: boolean;
  /** Stores a vector of little-endian FLOAT32 bytes. @returns its slot */
  add(bytes: Uint8Array, tie: number): number;
  /** Frees a slot, which may be used again at once. */
  free(slot: number): void;
  tieOf(slot: number): number;
  /** Inner product of the query and the vector of a slot, which must hold one. */
  similarity(query: Float32Array, slot: number): number;
  /** Offers to `selection` all slots of `mask` whose inner product with the query may be among the best. */
  scan(query: Float32Array, mask: VectorMask, selection: Selection): void;
}

/** The slots of all segments, and the vectors that wait to be written into them. */
interface Store {
  readonly makeKernel: MakeKernel;
  readonly dimensions: number;
  readonly layout: Layout;
  readonly segmentSize: number;
  readonly segments: Segment[];
  readonly freed: number[];
  /** Slots that have ever held a vector. */
  used: number;
  /** Vectors of neighbouring slots that wait to be written into their block. */
  readonly staged: { first: number; count: number };
}

export function createVectors(makeKernel: MakeKernel, dimensions: number): Vectors {
  const store = createStore(makeKernel, dimensions);
  const { segmentSize, freed } = store;
  return {
    dimensions,
    segmentSize,
    get isEmpty() {
      return store.used === freed.length;
    },
    add: (bytes, tie) => addVector(store, bytes, tie),
    free: (slot) => {
      freed.push(slot);
    },
    tieOf: (slot) => segmentOf(store, slot).ties[slot % segmentSize] ?? 0,
    similarity: (query, slot) => {
      flush(store);
      const first = vectorAt(store.layout, slot % segmentSize);
      return innerProduct(query, segmentOf(store, slot), { first, dimensions });
    },
    scan: (query, mask, selection) => {
      flush(store);
      scanSegments(store, { query, mask, selection });
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
    freed: [],
    used: 0,
    staged: { first: 0, count: 0 },
  };
}

function segmentOf({ segments, segmentSize }: Store, slot: number): Segment {
  return at(segments, Math.floor(slot / segmentSize));
}

function addVector(store: Store, bytes: Uint8Array, tie: number): number {
  const { makeKernel, dimensions, layout, segmentSize, segments, freed, staged } = store;
  const slot = freed.pop() ?? store.used++;
  if (slot === segments.length * segmentSize) segments.push(makeSegment(makeKernel, layout, dimensions));
  if (slot !== staged.first + staged.count || slot % STAGED === 0) flush(store);
  if (staged.count === 0) staged.first = slot;
  const segment = segmentOf(store, slot);
  const place = slot % segmentSize;
  segment.blocks = Math.max(segment.blocks, Math.floor(place / LANES) + 1);
  segment.ties[place] = tie;
  segment.bytes.set(bytes, layout.offsets.staged + staged.count * layout.stagedStride);
  staged.count += 1;
  return slot;
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
  { bytes }: Segment,
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
    mask,
    selection,
  }: { readonly query: Float32Array; readonly mask: VectorMask; readonly selection: Selection },
): void {
  const components = chooseComponents(query);
  for (const [index, segment] of segments.entries()) {
    const allowed = mask[index];
    if (!allowed) continue;
    segment.mask.set(allowed);
    scanSegment(segment, layout, { components, base: index * segmentSize, selection });
  }
}

function scanSegment(
  { kernel, ties, hits, scores, blocks, weights, rows }: Segment,
  { offsets, stride }: Layout,
  { components, base, selection }: { components: Components; base: number; selection: Selection },
): void {
  weights.set(components.weights);
  if (components.rows) rows.set(components.rows);
  const rowsAt = components.rows ? offsets.rows : 0;
  // The first step is short, because it only has to find a threshold.
  for (let block = 0, step = 1; block < blocks; block += step, step = STEP_BLOCKS) {
    selection.tighten();
    const found = kernel.scan(
      ...([offsets.vectors + block * stride, Math.min(step, blocks - block), stride] as const),
      ...([offsets.weights, rowsAt, components.weights.length] as const),
      ...([offsets.mask + block * LANES, offsets.ties + block * LANES * 8] as const),
      ...([selection.minScore, selection.maxTie] as const),
      ...([offsets.sums, offsets.hits, offsets.scores] as const),
    );
    for (let i = 0; i < found; i += 1) {
      const place = block * LANES + (hits[i] ?? 0);
      selection.offer(base + place, scores[i] ?? 0, ties[place] ?? 0);
    }
  }
}

interface Components {
  readonly weights: Float32Array;
  /** Byte offsets of the components' rows; null for all rows. */
  readonly rows: Uint32Array | null;
}

/** The nonzero components in whole groups, or all when many are nonzero, since reading on is then cheaper than skipping. */
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
