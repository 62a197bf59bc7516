import { LIST, SEGMENT_FIELDS, type MakePostingsKernel, type PostingsKernel } from './kernel.js';
import { emptyBounds, makeBounds, WINDOW, type Segment } from './segment.js';

interface Sizes {
  readonly chunks: number;
  readonly windows: number;
  readonly postings: number;
  /** The number of entries of the table of bounds by window. */
  readonly entries: number;
}

type Columns = Pick<Segment, 'lengths' | 'ordinals' | 'counts' | 'windowBounds' | 'windowEnds' | 'compiled'>;

/**
 * Makes the columns that scores are added up from. Those of a segment of several windows are views of the memory of a kernel
 * of its own. A small one has none, since there may be as many as there are owners, and each reserves addresses.
 */
export function makeColumns(sizes: Sizes, makeKernel: MakePostingsKernel): Columns {
  const layout = layOut(sizes);
  const made = sizes.windows > 1 ? reserve(makeKernel, layout.bytes) : null;
  return made ? viewsOf(made, sizes, layout.offsets) : plain(sizes);
}

/** @returns null when no more addresses can be reserved: some thousand segments have them then */
function reserve(makeKernel: MakePostingsKernel, bytes: number): ReturnType<MakePostingsKernel> | null {
  try {
    return makeKernel(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function plain({ chunks, postings, entries }: Sizes): Columns {
  return {
    lengths: new Uint32Array(chunks),
    ordinals: new Uint16Array(postings),
    counts: new Uint8Array(postings),
    windowBounds: makeBounds(entries),
    windowEnds: new Uint32Array(entries),
    compiled: null,
  };
}

/** Queries of more terms are added up without the kernel. */
export const MAX_LISTS = 1_024;
/** The place in memory where the kernel finds the fields of the segment. */
const SEGMENT_AT = 64;

type Region = Exclude<(typeof SEGMENT_FIELDS)[number], 'windows'>;
type Offsets = Readonly<Record<Region, number>>;

/** Returns the place where each region begins, and the number of bytes of all of them. */
function layOut({ chunks, postings, entries }: Sizes): { readonly offsets: Offsets; readonly bytes: number } {
  let bytes = SEGMENT_AT + SEGMENT_FIELDS.length * 4;
  const place = (size: number) => {
    const offset = Math.ceil(bytes / 64) * 64;
    bytes = offset + size;
    return offset;
  };
  const offsets = {
    lists: place(MAX_LISTS * LIST.words * 4),
    order: place(MAX_LISTS * 4),
    sums: place(WINDOW * 4),
    places: place(WINDOW * 2),
    found: place(WINDOW * 4),
    lengths: place(chunks * 4),
    windowEnds: place(entries * 4),
    boundLengths: place(entries * 2),
    boundCounts: place(entries),
    ordinals: place(postings * 2),
    counts: place(postings),
  };
  return { offsets, bytes };
}

function viewsOf(
  { kernel, buffer }: { readonly kernel: PostingsKernel; readonly buffer: ArrayBuffer },
  { chunks, windows, postings, entries }: Sizes,
  offsets: Offsets,
): Columns {
  const fields = { windows, ...offsets };
  new Uint32Array(buffer, SEGMENT_AT).set(SEGMENT_FIELDS.map((field) => fields[field]));
  return {
    lengths: new Uint32Array(buffer, offsets.lengths, chunks),
    ordinals: new Uint16Array(buffer, offsets.ordinals, postings),
    counts: new Uint8Array(buffer, offsets.counts, postings),
    windowBounds: emptyBounds(
      new Uint8Array(buffer, offsets.boundCounts, entries),
      new Uint16Array(buffer, offsets.boundLengths, entries),
    ),
    windowEnds: new Uint32Array(buffer, offsets.windowEnds, entries),
    compiled: {
      advance: kernel.advance,
      pointer: SEGMENT_AT,
      lists: {
        floats: new Float32Array(buffer, offsets.lists, MAX_LISTS * LIST.words),
        integers: new Int32Array(buffer, offsets.lists, MAX_LISTS * LIST.words),
      },
      found: {
        places: new Uint16Array(buffer, offsets.places, WINDOW),
        sums: new Float32Array(buffer, offsets.found, WINDOW),
      },
    },
  };
}
