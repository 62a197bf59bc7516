import { closeSync, openSync, readSync } from 'node:fs';

/** Real headers have some megabytes, most of it the vocabulary. */
const MAX_HEADER_BYTES = 256 * 1024 ** 2;
/** Items of all arrays together. Those of real headers are some for each token of the vocabulary. */
const MAX_ITEMS = 8 * 1024 ** 2;
/** Entries, and tensors. Real models have some thousands. */
const MAX_ENTRIES = 200_000;
const MAX_NESTING = 4;
const MAX_DIMENSIONS = 8;
const BUFFER_BYTES = 1024 ** 2;
/** Bytes of values by the numbers of their types in the format; strings (8) and arrays (9) say their length themselves. */
const SIZES = [1, 1, 2, 2, 4, 4, 4, 1, null, null, 8, 8, 8];
const STRING = 8;
const ARRAY = 9;

/**
 * Walks over the header of a file by the lengths and counts that it states itself, and throws where they lead beyond its
 * end, or beyond all reason. The reader of the engine's package believes counts: it would go on for hours, or end the
 * process with an array of the data that the file does have. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export function walkHeader(path: string, size: number): void {
  const file = openSync(path, 'r');
  try {
    walk(createCursor(file, Math.min(size, MAX_HEADER_BYTES)));
  } finally {
    closeSync(file);
  }
}

type Cursor = ReturnType<typeof createCursor>;

function createCursor(file: number, end: number) {
  const buffer = Buffer.alloc(BUFFER_BYTES);
  let start = 0;
  let length = 0;
  let at = 0;
  const skip = (bytes: number) => {
    at += bytes;
    if (at > end) throw new RangeError('the header leads beyond the end');
  };
  /** The place of the next bytes in the buffer. */
  const take = (bytes: number): number => {
    const from = at;
    skip(bytes);
    if (from < start || at > start + length) {
      start = from;
      length = readSync(file, buffer, 0, BUFFER_BYTES, from);
      if (length < bytes) throw new RangeError('the file is shorter than it was');
    }
    return from - start;
  };
  return {
    skip,
    uint32: () => buffer.readUInt32LE(take(4)),
    /** A number too large to be exact is beyond every end. */
    uint64: () => Number(buffer.readBigUInt64LE(take(8))),
  };
}

function walk(cursor: Cursor): void {
  cursor.skip(4);
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) throw new RangeError('the format has another version');
  const tensors = cursor.uint64();
  const entries = cursor.uint64();
  if (tensors > MAX_ENTRIES || entries > MAX_ENTRIES) throw new RangeError('the header has too many entries');
  const budget = { items: MAX_ITEMS };
  for (let entry = 0; entry < entries; entry += 1) {
    cursor.skip(cursor.uint64());
    skipValue(cursor, cursor.uint32(), { nesting: 0, budget });
  }
  for (let tensor = 0; tensor < tensors; tensor += 1) {
    cursor.skip(cursor.uint64());
    const dimensions = cursor.uint32();
    if (dimensions > MAX_DIMENSIONS) throw new RangeError('a tensor has too many dimensions');
    // Each dimension, the type, and where the tensor begins.
    cursor.skip(8 * dimensions + 4 + 8);
  }
}

interface Place {
  readonly nesting: number;
  /** Items that arrays may still have. */
  readonly budget: { items: number };
}

function skipValue(cursor: Cursor, type: number, place: Place): void {
  if (type === STRING) cursor.skip(cursor.uint64());
  else if (type === ARRAY) {
    if (place.nesting === MAX_NESTING) throw new RangeError('arrays are nested too deep');
    skipItems(cursor, { type: cursor.uint32(), count: cursor.uint64() }, place);
  } else cursor.skip(sizeOf(type));
}

function skipItems(
  cursor: Cursor,
  { type, count }: { readonly type: number; readonly count: number },
  { nesting, budget }: Place,
): void {
  budget.items -= count;
  if (budget.items < 0) throw new RangeError('the arrays of the header have too many items');
  const place = { nesting: nesting + 1, budget };
  if (type === STRING || type === ARRAY)
    for (let item = 0; item < count; item += 1) skipValue(cursor, type, place);
  else cursor.skip(count * sizeOf(type));
}

function sizeOf(type: number): number {
  const size = SIZES[type] ?? null;
  if (size === null) throw new RangeError('a value has an unknown type');
  return size;
}
